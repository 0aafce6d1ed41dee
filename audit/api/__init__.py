"""The log over HTTP: its entries, their proofs, and the dossiers made of them."""
