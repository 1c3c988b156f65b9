"""The built-in model itself: llama.cpp through its C interface, with shared prompts and kept prefixes.

What the ready-made servers do not give and this does:

- several samples of one prompt read the prompt once; the greedy one is written alone, so that it is what a request
  for one reply gets, the others four side by side in one batch;
- the states of earlier prompts are kept, so a new question behind a known prefix reads only what is new;
- prompts are read in blocks that start at multiples of `BLOCK`, and prefixes are reused in whole blocks only. The
  arithmetic of a token depends on how many share its batch; with fixed blocks a reply is the same whether or not its
  prefix was kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from nl2net.llm.prefixes import PrefixStore, common_prefix
from nl2net.llm.sampling import Choice, Grammar, Sampler

BLOCK = 64
CONTEXT = 8192
# The kernels work on four rows at a time, so four samples side by side are the cheapest.
GROUP = 4
MAX_SAMPLES = 16


class PromptTooLong(Exception):
    """Prompt and reply do not fit into the context."""


class Stopped(Exception):
    """The caller went away."""


@dataclass(frozen=True, slots=True)
class Job:
    """One request to the engine.

    Attributes
    ----------
    tokens : sequence of int
        The whole prompt.
    count, temperature, greedy_first, seed : int, float, bool, int
        Sampling; sample ``i`` draws with ``seed + i``.
    max_tokens : int
        For each sample.
    grammar : str, optional
        GBNF.
    stop : sequence of str
        Texts that end a sample and are left out.
    """

    tokens: Sequence[int]
    count: int = 1
    temperature: float = 0.0
    top_p: float = 0.95
    greedy_first: bool = False
    seed: int = 1
    max_tokens: int = 512
    grammar: str | None = None
    stop: Sequence[str] = ()


@dataclass(slots=True)
class Sample:
    """A reply while it grows."""

    index: int
    slot: int  # its sequence in the context
    sampler: Sampler
    tokens: list[int] = field(default_factory=list)
    pending: bytes = b""
    text: str = ""
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """What one step added to one sample."""

    index: int
    text: str
    logprob: float | None
    finish_reason: str | None


class Engine:
    """One loaded model. Not safe to share between threads; the server holds a lock.

    Parameters
    ----------
    path : Path
        A GGUF file with ChatML as its chat format.
    threads : int
        Threads for reading and writing.
    """

    def __init__(self, path: Path, *, threads: int, context: int = CONTEXT) -> None:
        _silence()
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
        if not self._model:
            raise OSError(f"{path} cannot be loaded as a model")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self.n_vocab = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        self.context = context
        self._ctx = llama_cpp.llama_init_from_model(self._model, _context_params(threads, context))
        if not self._ctx:
            raise OSError("there is not enough memory for the context of the model")
        self._memory = llama_cpp.llama_get_memory(self._ctx)
        self._batch = llama_cpp.llama_batch_init(BLOCK, 0, 1)
        self._prefixes = PrefixStore(self._ctx)
        self._live: list[int] = []
        self.reused = 0

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of a text; with ``special`` the control tokens in it count as such."""
        data = text.encode("utf-8")
        room = len(data) + 8
        tokens = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, special)
        return list(tokens[:count])

    def chat_tokens(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The prompt of a conversation in ChatML; a last message of the assistant is left open, to be continued.

        Contents are tokenised apart from the frame, so that a text cannot forge the end of its message.
        """
        start, end = self.tokenize("<|im_start|>", special=True), self.tokenize("<|im_end|>", special=True)
        newline = self.tokenize("\n")
        tokens: list[int] = []
        for message in messages:
            tokens += [
                *start,
                *self.tokenize(message["role"] + "\n"),
                *self.tokenize(message["content"]),
                *end,
                *newline,
            ]
        if messages and messages[-1]["role"] == "assistant":
            return tokens[: -len(end) - len(newline)]
        return tokens + start + self.tokenize("assistant\n")

    def run(self, job: Job, stopped: Callable[[], bool]) -> Iterator[Piece]:
        """Write all samples of a job, piece by piece.

        Raises
        ------
        PromptTooLong
            At the first step.
        Stopped
            ``stopped`` said so; it is asked before every block and step.
        """
        room = self.context - len(job.tokens)
        if room < min(job.count, GROUP) * 16:
            raise PromptTooLong(f"the prompt has {len(job.tokens)} tokens, the context {self.context}")
        limit = min(job.max_tokens, room // min(job.count, GROUP))
        logits = self._read(list(job.tokens), stopped)
        for group in _groups(job):
            samples = [Sample(index, slot, self._sampler(job, index)) for slot, index in enumerate(group)]
            yield from self._write(samples, logits, job, limit=limit, stopped=stopped)

    def _write(
        self,
        samples: Sequence[Sample],
        logits: npt.NDArray[np.float32],
        job: Job,
        *,
        limit: int,
        stopped: Callable[[], bool],
    ) -> Iterator[Piece]:
        """Write a group of samples side by side; all start from the logits at the end of the prompt."""
        for sample in samples[1:]:
            llama_cpp.llama_memory_seq_cp(self._memory, 0, sample.slot, -1, -1)
        try:
            rows: list[npt.NDArray[np.float32]] = [logits] * len(samples)
            active = list(samples)
            while active:
                if stopped():
                    raise Stopped
                pieces = [self._advance(s, row, job, limit) for s, row in zip(active, rows, strict=True)]
                yield from pieces
                active = [s for s in active if s.finish_reason is None]
                rows = self._decode_step(active, len(job.tokens))
        finally:
            self._tidy(samples, len(job.tokens))

    def _sampler(self, job: Job, index: int) -> Sampler:
        temperature = 0.0 if index == 0 and job.greedy_first else job.temperature
        grammar = Grammar(self._vocab, job.grammar) if job.grammar else None
        return Sampler(temperature, job.top_p, seed=job.seed + index, grammar=grammar)

    def _read(self, tokens: list[int], stopped: Callable[[], bool]) -> npt.NDArray[np.float32]:
        """Evaluate a prompt in sequence 0, reusing the longest known prefix, and return the logits of its end."""
        kept = self._reuse(tokens)
        self.reused = kept
        for start in range(kept, len(tokens), BLOCK):
            if stopped():
                raise Stopped
            block = tokens[start : start + BLOCK]
            last = start + len(block) == len(tokens)
            self._decode([(t, start + i, 0, last and i == len(block) - 1) for i, t in enumerate(block)])
            self._live = tokens[: start + len(block)]
        return self._logits(self._batch.n_tokens - 1).copy()

    def _reuse(self, tokens: list[int]) -> int:
        """Bring sequence 0 to the longest known prefix in whole blocks; the last token is always read anew."""
        here = common_prefix(self._live, tokens)
        stored = self._prefixes.best(tokens)
        if stored is not None and common_prefix(stored, tokens) > here + BLOCK:
            self._prefixes.keep(self._live)
            llama_cpp.llama_memory_clear(self._memory, False)
            self._live = self._prefixes.restore(stored)
            here = common_prefix(self._live, tokens)
        elif here < len(self._live) // 2:
            self._prefixes.keep(self._live)
        kept = min(here, len(tokens) - 1) // BLOCK * BLOCK
        llama_cpp.llama_memory_seq_rm(self._memory, 0, kept, -1)
        self._live = self._live[:kept]
        return kept

    def _decode(self, items: Sequence[tuple[int, int, int, bool]]) -> None:
        batch = self._batch
        batch.n_tokens = len(items)
        for i, (token, position, sequence, wanted) in enumerate(items):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = wanted
        code = llama_cpp.llama_decode(self._ctx, batch)
        if code != 0:
            self._forget()
            raise RuntimeError(f"llama_decode returned {code}")

    def _decode_step(self, active: Sequence[Sample], prompt_length: int) -> list[npt.NDArray[np.float32]]:
        if not active:
            return []
        self._decode([(s.tokens[-1], prompt_length + len(s.tokens) - 1, s.slot, True) for s in active])
        return [self._logits(i) for i in range(len(active))]

    def _logits(self, row: int) -> npt.NDArray[np.float32]:
        pointer = llama_cpp.llama_get_logits_ith(self._ctx, row)
        found: npt.NDArray[np.float32] = np.ctypeslib.as_array(pointer, shape=(self.n_vocab,))
        return found

    def _advance(self, sample: Sample, logits: npt.NDArray[np.float32], job: Job, limit: int) -> Piece:
        """Choose the next token of one sample and work out which text may be shown."""
        choice: Choice = sample.sampler.choose(logits)
        if llama_cpp.llama_vocab_is_eog(self._vocab, choice.token):
            sample.finish_reason = "stop"
            return Piece(sample.index, self._flush(sample), choice.logprob, "stop")
        sample.tokens.append(choice.token)
        sample.pending += self._bytes_of(choice.token)
        shown = self._take_complete(sample, job.stop)
        if sample.finish_reason is None and len(sample.tokens) >= limit:
            sample.finish_reason = "length"
            shown += self._flush(sample)
        return Piece(sample.index, shown, choice.logprob, sample.finish_reason)

    def _bytes_of(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(256)
        count = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, 256, 0, False)
        return bytes(buffer.raw[: max(count, 0)])

    @staticmethod
    def _flush(sample: Sample) -> str:
        text = sample.pending.decode("utf-8", errors="replace")
        sample.pending = b""
        sample.text += text
        return text

    @staticmethod
    def _take_complete(sample: Sample, stops: Sequence[str]) -> str:
        """Move whole characters that cannot be the start of a stop text from ``pending`` to ``text``."""
        held = sample.pending.decode("utf-8", errors="ignore")
        if len(held.encode("utf-8")) != len(sample.pending) and len(sample.pending) < 4:
            return ""  # in the middle of a character
        for stop in stops:
            if stop in held:
                held = held.partition(stop)[0]
                sample.finish_reason, sample.pending = "stop", b""
                sample.text += held
                return held
        longest = max((n for stop in stops for n in range(len(stop)) if n and held.endswith(stop[:n])), default=0)
        shown = held[: len(held) - longest]
        sample.pending = sample.pending[len(shown.encode("utf-8")) :]
        sample.text += shown
        return shown

    def _tidy(self, samples: Sequence[Sample], prompt_length: int) -> None:
        for sample in samples[1:]:
            llama_cpp.llama_memory_seq_rm(self._memory, sample.slot, -1, -1)
        llama_cpp.llama_memory_seq_rm(self._memory, 0, prompt_length, -1)
        for sample in samples:
            sample.sampler.close()

    def _forget(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, True)
        self._live = []


def _groups(job: Job) -> Iterator[range]:
    """Which samples are written together."""
    start = 0
    while start < job.count:
        size = 1 if start == 0 and job.greedy_first else GROUP
        yield range(start, min(start + size, job.count))
        start += size


def _context_params(threads: int, context: int) -> Any:
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = context
    params.n_batch = params.n_ubatch = BLOCK
    params.n_seq_max = GROUP
    params.kv_unified = True  # samples share the cells of their prompt
    params.n_threads = params.n_threads_batch = threads
    params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.no_perf = True
    return params


def _swallow(_level: int, _text: bytes, _data: Any) -> None:
    """Take a line of the log of llama.cpp and print nothing."""


_NO_LOG = llama_cpp.llama_log_callback(_swallow)  # kept alive as long as the library may call it


def _silence() -> None:
    llama_cpp.llama_log_set(_NO_LOG, ctypes.c_void_p(0))
