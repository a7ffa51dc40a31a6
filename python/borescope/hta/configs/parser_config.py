"""Which arguments of events are columns of frames. The engine reads files in its own way: a parser that is chosen changes
nothing."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from .default_values import AVAILABLE_ARGS, AttributeSpec, ValueType, YamlVersion, v1_0_0

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_PARSE_VERSION: YamlVersion = v1_0_0


class ParserBackend(str, Enum):
    """HTA's ways to read a file, which all give the same frame; accepted, and without a meaning here."""

    JSON = "json"
    IJSON = "ijson"
    IJSON_BATCHED = "ijson_batched"
    IJSON_BATCH_AND_COMPRESS = "ijson_batch_and_compress"


class TraceType(str, Enum):
    """What a trace is of."""

    Training = "training"
    TrainingWoProfilerstepAnnot = "training_wo_profilerstep_annot"
    Inference = "inference"


def _those(*keys: str) -> list[AttributeSpec]:
    return [AVAILABLE_ARGS[key] for key in keys]


class ParserConfig:
    """The arguments that are columns, in order, and settings of HTA's parsers."""

    ARGS_INPUT_SHAPE: ClassVar[list[AttributeSpec]] = _those("cpu_op::input_dims", "cpu_op::input_type",
                                                             "cpu_op::input_strides")
    ARGS_BANDWIDTH: ClassVar[list[AttributeSpec]] = _those("data::bytes", "data::bandwidth")
    ARGS_SYNC: ClassVar[list[AttributeSpec]] = _those("cuda_sync::stream", "cuda_sync::event")
    ARGS_MINIMUM: ClassVar[list[AttributeSpec]] = _those("cuda::stream", "correlation::cpu_gpu")
    ARGS_INDEX: ClassVar[list[AttributeSpec]] = _those("index::external_id", "index::python_id",
                                                       "index::python_parent_id")
    ARGS_COMPLETE: ClassVar[list[AttributeSpec]] = [spec for key, spec in AVAILABLE_ARGS.items()
                                                    if not key.startswith("info")]
    ARGS_INFO: ClassVar[list[AttributeSpec]] = _those("info::labels", "info::name", "info::sort_index")
    ARGS_TRITON_KERNELS: ClassVar[list[AttributeSpec]] = _those("cpu_op::kernel_backend", "cpu_op::kernel_hash")
    ARGS_COMMUNICATION: ClassVar[list[AttributeSpec]] = _those(
        "nccl::collective_name", "nccl::in_msg_nelems", "nccl::out_msg_nelems", "nccl::dtype", "nccl::group_size",
        "nccl::rank", "nccl::in_split_size", "nccl::out_split_size")
    ARGS_DEFAULT: ClassVar[list[AttributeSpec]] = [*ARGS_MINIMUM, *ARGS_BANDWIDTH, *ARGS_SYNC, *ARGS_INPUT_SHAPE,
                                                   *ARGS_INDEX, *ARGS_COMMUNICATION]
    DEFAULT_MIN_REQUIRED_COLS: ClassVar[list[str]] = ["ts", "dur", "name", "cat", "pid", "tid"]

    def __init__(self, args: list[AttributeSpec] | None = None, user_provide_trace_type: TraceType | None = None,
                 version: YamlVersion = DEFAULT_PARSE_VERSION, parse_all_args: bool = False,
                 selected_arg_keys: list[str] | None = None, skip_event_types: set[str] | None = None,
                 convert_ts_to_integer: bool = True) -> None:
        self.args: list[AttributeSpec] = list(args or self.ARGS_DEFAULT)
        self.arg_map: dict[str, AttributeSpec] = {spec.name: spec for spec in self.args}
        self.parser_backend: ParserBackend | None = None
        self.trace_memory: bool = False
        self.user_provide_trace_type = user_provide_trace_type
        self.skip_event_types: set[str] = {"python_function"} if skip_event_types is None else skip_event_types
        self.min_required_cols: list[str] = list(self.DEFAULT_MIN_REQUIRED_COLS)
        self.drop_gpu_user_annotation: bool = True
        self.version = version
        self.parse_all_args = parse_all_args
        self.selected_arg_keys = selected_arg_keys
        self.convert_ts_to_integer = convert_ts_to_integer
        # Of HTA's parsers: seven days.
        self.max_event_duration_us: int | None = 7 * 24 * 3600 * 1_000_000

    def __repr__(self) -> str:
        return (f"ParserConfig(args={[spec.name for spec in self.args]}, parse_all_args={self.parse_all_args}, "
                f"parser_backend={self.parser_backend}, version={self.version.get_version_str()})")

    # --- the one that is used unless another is given

    @classmethod
    def get_default_cfg(cls) -> ParserConfig:
        """A copy of it."""
        return _default.clone()

    @classmethod
    def set_default_cfg(cls, cfg: ParserConfig) -> None:
        """Makes a copy of another one it."""
        global _default
        _default = cfg.clone()

    @classmethod
    def get_versioned_cfg(cls, version: YamlVersion) -> ParserConfig:
        """One of a version of HTA's list of arguments; the lists are the same here."""
        return ParserConfig(version=version)

    @staticmethod
    def set_global_parser_config_version(version: YamlVersion) -> None:
        """Begins again with that of a version."""
        ParserConfig.set_default_cfg(ParserConfig(version=version))

    @classmethod
    def enable_communication_args(cls, cfg: ParserConfig | None = None,
                                  version: YamlVersion = DEFAULT_PARSE_VERSION) -> ParserConfig:
        """Adds what collectives say of their messages."""
        chosen = cfg or _default
        chosen.add_args(cls.ARGS_COMMUNICATION)
        return chosen

    def clone(self) -> ParserConfig:
        """A copy."""
        return copy.deepcopy(self)

    # --- arguments

    @classmethod
    def get_minimum_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        """Those that analyses cannot do without."""
        return list(cls.ARGS_MINIMUM)

    @classmethod
    def get_default_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        """Those of frames unless others are chosen."""
        return list(cls.ARGS_DEFAULT)

    @classmethod
    def get_info_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        """Those of records that only name something."""
        return list(cls.ARGS_INFO)

    @classmethod
    def get_all_available_args(cls) -> dict[str, AttributeSpec]:
        """All that have a name here."""
        return AVAILABLE_ARGS

    @classmethod
    def show_available_args(cls) -> None:
        """Prints them."""
        from pprint import pprint

        pprint(AVAILABLE_ARGS)

    def get_args(self) -> list[AttributeSpec]:
        """The chosen ones, in order."""
        if self.selected_arg_keys is not None:
            return [self.arg_map[key] for key in self.selected_arg_keys]
        return self.args

    def set_args(self, args: list[AttributeSpec]) -> None:
        """Chooses these."""
        chosen = list(args)
        self.args, self.arg_map = [], {}
        self.add_args(chosen)

    def add_args(self, args: Iterable[AttributeSpec]) -> None:
        """Chooses these, too."""
        for spec in args:
            if spec.name not in self.arg_map:
                self.args.append(spec)
                self.arg_map[spec.name] = spec

    def set_args_selector(self, selected_arg_keys: list[str] | None = None) -> ParserConfig:
        """Chooses some of them, by the names of their columns; all with None."""
        self.selected_arg_keys = selected_arg_keys
        return self

    def set_parse_all_args(self, parse_all_args: bool) -> ParserConfig:
        """Whether every argument that a file has is a column."""
        self.parse_all_args = parse_all_args
        return self

    @classmethod
    def transform_arg_name(cls, arg: str) -> str:
        """The name of the column of an argument that has none here."""
        name = re.sub(r"[ \-/.%]+", "_", re.sub(r"\([^)]*\)", "", arg).lower())
        name = re.sub(r"_+", "_", name).strip("_")
        return "arg_name" if name == "name" else name

    @classmethod
    def make_attribute_spec(cls, raw_name: str, value: object,
                            min_supported_version: YamlVersion = DEFAULT_PARSE_VERSION) -> AttributeSpec:
        """An argument by one of its values."""
        kinds: list[tuple[type, ValueType, object]] = [(int, ValueType.Int, 0), (float, ValueType.Float, 0.0),
                                                       (str, ValueType.String, "")]
        kind, default = next(((kind, default) for known, kind, default in kinds if isinstance(value, known)),
                             (ValueType.Object, None))
        return AttributeSpec(cls.transform_arg_name(raw_name), raw_name, kind, default, min_supported_version)

    @classmethod
    def infer_attribute_specs(cls, args: pd.Series,
                              reference_specs: dict[str, AttributeSpec] | None = None) -> dict[str, AttributeSpec]:
        """Every argument of a column of dicts, by its key; known ones as they are known."""
        known = {spec.raw_name: spec for spec in (reference_specs or {}).values()}
        found: dict[str, AttributeSpec] = {}
        for cells in args.dropna():
            for key, value in cells.items() if isinstance(cells, dict) else ():
                if key not in found or key == "name":
                    is_known = key in known and key != "name"
                    found[key] = known[key] if is_known else cls.make_attribute_spec(key, value)
        return {**{key: found[key] for key in known if key in found}, **found}

    # --- settings of HTA's parsers

    def set_min_required_cols(self, cols: list[str]) -> None:
        """Columns that a file must have."""
        self.min_required_cols = cols

    def get_min_required_cols(self) -> list[str]:
        """These."""
        return self.min_required_cols

    def set_trace_memory(self, trace_memory: bool) -> None:
        """Whether HTA measures memory."""
        self.trace_memory = trace_memory

    def set_drop_gpu_user_annotation(self, should_drop: bool) -> None:
        """Whether HTA leaves out annotations of the device."""
        self.drop_gpu_user_annotation = should_drop

    def set_parser_backend(self, parser_backend: ParserBackend | None) -> None:
        """How HTA reads a file."""
        self.parser_backend = parser_backend

    def set_skip_event_types(self, skip_event_types: set[str] | None = None) -> ParserConfig:
        """Categories that some of HTA's parsers leave out."""
        self.skip_event_types = set() if skip_event_types is None else skip_event_types
        return self

    def get_fingerprint_key(self) -> tuple[tuple[str, ...], bool]:
        """What of this changes frames."""
        return tuple(sorted(spec.name for spec in self.get_args())), self.parse_all_args


_default = ParserConfig()


def with_arguments(frame: pd.DataFrame, events: list[dict[str, Any]], cfg: ParserConfig) -> pd.DataFrame:
    """A frame of the arguments that analyses have, with those that are chosen: others are read from the events of the
    file, whose places in it are the column ``index``."""
    import pandas

    chosen = cfg.get_args()
    if cfg.parse_all_args:
        rows = pandas.Series([events[number].get("args") for number in frame["index"].tolist()])
        chosen = list(ParserConfig.infer_attribute_specs(rows, AVAILABLE_ARGS).values())
    usual = [spec.name for spec in ParserConfig.ARGS_DEFAULT]
    columns = list(frame.columns)
    place = next((number for number, name in enumerate(columns) if name in usual), len(columns))
    kept = {spec.name for spec in chosen} | {spec.name for spec in ParserConfig.ARGS_MINIMUM}
    parts = {name: frame[name] for name in columns if name not in usual or name in kept}
    for spec in chosen:
        if spec.name not in parts:
            cells = [(events[number].get("args") or {}).get(spec.raw_name, spec.default_value)
                     for number in frame["index"].tolist()]
            column = pandas.Series(cells, index=frame.index, name=spec.name)
            parts[spec.name] = pandas.to_numeric(column, downcast="integer") if column.dtype.kind == "i" else column
    before = [name for name in columns[:place] if name in parts]
    middle = [spec.name for spec in chosen if spec.name not in before]
    after = [name for name in parts if name not in before and name not in middle]
    return pandas.concat([parts[name] for name in [*before, *middle, *after]], axis=1)
