"""HolisticTraceAnalysis (HTA) as a part of Borescope: the same classes, methods and frames.

``from hta.trace_analysis import TraceAnalysis`` becomes
``from borescope.hta.trace_analysis import TraceAnalysis``. Frames are those of HTA 0.6 by name, order,
unit, rounding and type; docs/use/compat-hta.md lists what differs. pandas, plotly and networkx are
imported when something needs them; without plotly ``visualize=True`` shows nothing.

What HTA calls, and what Borescope calls it (``run = borescope.open(...)``):

===========================================  ======================================================
HTA                                          Borescope
===========================================  ======================================================
get_temporal_breakdown                       run.breakdown()
get_comm_comp_overlap                        run.overlap()
get_gpu_kernel_breakdown                     run.kernels()
get_gpu_user_annotation_breakdown            run.annotations()
get_gpu_kernels_with_user_annotations        run.annotations()
get_idle_time_breakdown                      run.idle()
get_cuda_kernel_launch_stats                 run.launches()
get_aten_op_kernels_and_delay                run.delays()
get_queue_length_summary, _time_series       run.queue(), run.queue(series=True)
get_time_spent_blocked_on_full_queue         run.queue()
get_memory_bw_summary, _time_series          run.bandwidth(), run.bandwidth(series=True)
generate_trace_with_counters                 run.queue(overlay=...), run.bandwidth(overlay=...)
get_frequent_cuda_kernel_sequences           run.sequences()
get_cupti_counter_data_with_operators        run.counters()
get_profiler_steps                           run.steps()
get_potential_stragglers                     run.stragglers()
critical_path_analysis                       run.critical_path()
overlay_critical_path_analysis               run.critical_path(overlay=...)
TraceDiff.compare_traces, ops_diff           run.diff(base)
MemoryAnalysis                               run.memory()
Trace.get_trace                              run.events(), run.sql(...)
validate_trace_format                        run.doctor()
CallGraph, filters, parsers, timelines       run.stacks(), run.sql(...), run.events(), `borescope open`
===========================================  ======================================================

All but the first column work by Borescope's own definitions, in nanoseconds, and on any format.
"""
