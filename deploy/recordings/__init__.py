"""Recordings of tables: what devices sent, line by line, and playing them into a running house.

A recording is a gzipped file of JSON lines. Most are deliveries, ``{"table": …, "event": CloudEvent}``, in the order in
which they reached the house; the network repeats some and turns others around. A line with ``ask`` is what somebody
asked for at that moment: ``cover`` of a round's bets by its terminal, or a ``correct`` by two people.

Read in order: ``recording`` (the file), ``batches`` (how it is cut into requests; pure), ``device_http`` (HTTP),
``player`` (one table), ``comparison`` (what came out against what was expected).
"""
