"""The floor's doors: JSON for terminals, cameras and the people who look after them."""
