"""Faults that strike a whole house: web, worker, beat and sealer as processes, with tables and cashiers at work.

After each of them a new round is recorded and settled, every answer was the truth, nothing waits, and the books are
clean (``harness.House.holds``); a case whose fault never struck fails. ``FAULTS_SEED`` chooses who does what, and is
printed where a case fails.

- web killed before or after a COMMIT, or its connection cut; a worker's reply lost: test_commits
- a child killed in a task, the whole worker killed, one bell thrice, a worker frozen: test_workers
- the broker emptied, and gone while a task is under way: test_broker
- receivers that fail in every way, and one that is gone: test_receivers
- the database crashed; an idle writer beside two sealers: test_database
- one key, one batch, one round fifty times at once; accounts locked the other way round: test_keys
- a camera whose reports are shuffled, come three times and partly late: test_camera

What needs no process to die is tried elsewhere: many who decide one dispute at once and the first of them dying behind
every statement in ``tests/races/test_deciding.py``, slow writers and sealers that fork in ``tests/audit/test_seal.py``.
"""
