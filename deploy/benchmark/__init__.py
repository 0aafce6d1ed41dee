"""How fast the house is: hands classified, rounds judged, folded and settled, events recorded, messages delivered.

Everything is measured several times and told as a median, beside a floor: what the machine does when next to nothing is
asked of it. Nothing here touches the house's own books: what needs a database gets a scratch one, dropped afterwards.

Read in order: ``dealt_rounds``, ``measuring``, ``pure``, ``scratch_database``, ``settling``, ``recording``,
``deliveries``.
"""
