// Written by tools/gen_cuda_calls.py.
// By CUPTI's numbers, sorted: which calls of CUDA launch work of a device, which of the driver are
// recorded besides, since they order work in a stream, and which of the runtime never are.
#pragma once

#include <cstdint>

namespace borescope::inject::cuda {

// clang-format off
inline constexpr uint32_t kRuntimeLaunches[] = {
    13, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
    142, 143, 144, 145, 160, 161, 162, 163, 211, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222,
    223, 224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 243, 244, 245, 246, 249,
    250, 252, 253, 269, 270, 272, 311, 312, 430, 431, 449, 450, 482, 483, 484, 485, 487, 488, 491,
    492, 505, 506, 509, 510, 511, 512, 554, 555, 556, 557,
};
inline constexpr uint32_t kDriverLaunches[] = {
    43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66,
    67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 115, 116, 117, 216, 217, 218,
    219, 220, 221, 222, 223, 224, 225, 226, 227, 232, 233, 234, 248, 249, 250, 251, 252, 253, 254,
    276, 277, 278, 279, 280, 281, 282, 283, 284, 285, 286, 287, 288, 289, 290, 291, 292, 293, 305,
    306, 307, 318, 319, 320, 321, 397, 398, 399, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409,
    410, 411, 412, 413, 414, 415, 416, 418, 419, 420, 421, 422, 423, 424, 425, 426, 427, 428, 429,
    430, 431, 432, 433, 442, 467, 468, 477, 478, 480, 514, 515, 652, 653, 716, 717, 761, 762, 776,
    777, 778, 779, 784, 785, 791, 792, 796, 797, 798, 799, 819, 828, 829, 837, 838, 839, 840,
};
inline constexpr uint32_t kDriverOrders[] = {
    495, 496, 497, 498, 513, 527, 528, 539, 540, 561, 578, 580, 581, 584, 585, 598, 599, 600, 601,
    611, 612, 643, 656, 657, 696, 720, 721, 783, 789, 790, 814, 815, 816, 831, 832, 846, 847,
};
inline constexpr uint32_t kRuntimeIdle[] = {
    10, 11, 17, 317, 318, 324, 325, 409, 410, 461, 462, 502, 503,
};
// clang-format on

// The newest that whoever reads a log knows by name.
inline constexpr uint32_t kNewestRuntimeCall = 565;
inline constexpr uint32_t kNewestDriverCall = 867;

}  // namespace borescope::inject::cuda
