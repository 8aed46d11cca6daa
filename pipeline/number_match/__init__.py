"""Makes level packs for Number Match.

A config file comes in. Boards are generated, proved clearable by a bounded solver and replayed by the plain rules,
played thousands of times by simulated players, and arranged in Levels whose difficulty follows the curve that the
designer asked for. A pack file goes out, with everything in it that is needed to check it again for years: see
`number-match --help`.
"""

__version__ = "0.1.0"
