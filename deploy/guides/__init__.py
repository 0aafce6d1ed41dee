"""Pages for whoever connects a camera or a cashier system: what they need, in an hour, without our source.

The commands on a page are files (``programs``), shown as they stand; a test takes them from the served page and runs
them against a running house.
"""
