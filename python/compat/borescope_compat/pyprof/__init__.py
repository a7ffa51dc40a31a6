"""PyProf's two stages: `python -m borescope_compat.pyprof.parse` and `… .prof`."""
