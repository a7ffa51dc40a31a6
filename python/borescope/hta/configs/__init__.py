"""As the package of this name in HolisticTraceAnalysis."""
