"""What rounds are worth, over HTTP: rounds, rule sheets, floats and the books."""
