"""Statements of accounts: ours, one per account and sealed gaming day; those of others, matched with ours."""
