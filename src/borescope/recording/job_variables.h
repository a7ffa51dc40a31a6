// The variables by which launchers of distributed jobs say which process is which: torchrun, Open
// MPI, PMIx, MPICH, Slurm. The first that holds a number counts.
#pragma once

namespace borescope::recording {

inline constexpr const char* kRankVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                 "PMI_RANK", "SLURM_PROCID"};
inline constexpr const char* kLocalRankVariables[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                                      "SLURM_LOCALID"};
inline constexpr const char* kWorldVariables[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                                  "SLURM_NTASKS"};

}  // namespace borescope::recording
