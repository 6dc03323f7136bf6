"""The last step to the machine: ptxas assembles PTX, and nvdisasm reads back what it made."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from jax._src import lib
from msgspec import Struct

from track.evidence.gpu_record import Maker, Ptxas

__all__ = ["Assembled", "assemble", "class_of", "opcodes", "plain_ptx", "report", "toolkit"]

ENTRY = re.compile(r"\.entry\s+([\w$]+)\(")
DEBUG = re.compile(
    r"^\s*\.section\s+\.debug.*?^\s*\}|^\s*\.(?:loc|file)\b[^\n]*|^\$L__tmp\d+:", re.MULTILINE | re.DOTALL
)
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)")
FIGURES = {
    "registers": r"Used (\d+) registers",
    "spill_stores": r"(\d+) bytes spill stores",
    "spill_loads": r"(\d+) bytes spill loads",
    "stack": r"(\d+) bytes stack frame",
    "shared": r"(\d+) bytes smem",
    "barriers": r"used (\d+) barriers",
}

# The first pattern that matches an opcode from its beginning names its class.
CLASSES = {
    "tensor": r"[A-Z]*MMA$|UTC[A-Z]*MMA",  # wgmma is HGMMA and its kin, tcgen05 is UTC*MMA
    "tensor memory": r"LDTM|STTM|UTC|UVIRTCOUNT",
    "bulk copy": r"UTMA|UBLK|SYNCS_BULK",  # TMA
    "asynchronous copy": r"LDGSTS|LDGDEPBAR",
    "global": r"LDG|STG|LD$|ST$|ATOMG|ATOM$|RED$|REDG|CCTL",
    "shared": r"LDS|STS|ATOMS",  # with LDSM and STSM, which load and store matrices
    "local": r"LDL|STL",  # the stack, so the spills
    "constant": r"U?LDC",
    "barrier": r"BAR|SYNCS|MEMBAR|FENCE|DEPBAR|WARPGROUP|WARPSYNC|ELECT|U?CGABAR|ACQBULK|NANOSLEEP|ERRBAR|PREEXIT",
    "special function": r"MUFU",
    "float": r"[FHD](?:ADD|MUL|FMA|MNMX|SETP?|SEL|CHK|SWZ|HADD)",
    "conversion": r"[FI]2[FI]|FRND|F2|I2",
    "control": r"BRA|BRX|EXIT|RET|CALL|BSSY|BSYNC|BREAK|JMP|YIELD|USETMAXREG|BPT|KILL",
    "exchange": r"SHFL|VOTE|UVOTE|REDUX|CREDUX|MATCH",
    "move": r"U?MOV|[SC]?S2U?R|R2UR|[PR]2[PR]|U?SEL|U?PRMT",
    "integer": r"U?I|U?LOP|U?SHF|U?LEA|U?VI|U?FLO|U?POPC|U?SGXT|U?BREV|U?BMSK|U?PLOP|U?VADD|U?VMNMX|U?CLMAD",
}


class Assembled(Struct, frozen=True):
    """A program as ptxas made it: the figures, the PTX that went in, and the SASS that came out."""

    figures: Ptxas
    ptx: str
    sass: str


def toolkit() -> Path:
    """The folder of ptxas and nvdisasm, from the packages that jax uses; LookupError where they are not installed."""
    folder = Path(lib.cuda_path or "", "bin")
    if not lib.cuda_path or not (folder / "ptxas").is_file():
        raise LookupError("jax finds no CUDA toolkit among the installed packages")
    return folder


def assemble(path: Path, arch: str, maker: Maker = "xla", dynamic_shared: int = 0) -> Assembled:
    """Assemble a file with one entry, in the current folder."""
    said = called("ptxas", "-v", f"-arch={arch}", "-o", "kernel.cubin", str(path))
    sass = called("nvdisasm", "-c", "kernel.cubin")
    ptx = path.read_text()
    entry = ENTRY.search(ptx)
    if not entry:
        raise LookupError(f"no entry in {path.name}")
    classes = Counter(class_of(opcode) for opcode in opcodes(sass))
    text = plain_ptx(ptx)
    lines = sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))
    figures = Ptxas(
        entry[1],
        **report(said),
        maker=maker,
        dynamic_shared=dynamic_shared,
        ptx_lines=lines,
        instructions=classes.total(),
        classes=dict(sorted(classes.items())),
    )
    return Assembled(figures, text, sass)


def called(tool: str, *arguments: str) -> str:
    """What a tool of the toolkit writes to both of its outputs; CalledProcessError where it fails."""
    command = [str(toolkit() / tool), *arguments]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return ran.stdout


def report(said: str) -> dict[str, int]:
    """The figures of ptxas' own report on one entry; what it does not mention is 0."""
    if "Used" not in said:
        raise LookupError(f"no report of ptxas in {said!r}")
    found = {name: re.search(pattern, said) for name, pattern in FIGURES.items()}
    return {name: int(match[1]) if match else 0 for name, match in found.items()}


def opcodes(sass: str) -> list[str]:
    """The opcodes of a disassembly without their modifiers; NOPs, most of which only fill up, are left out."""
    return [opcode for opcode in INSTRUCTION.findall(sass) if opcode != "NOP"]


def class_of(opcode: str) -> str:
    """What an instruction uses, by its opcode; `other` where the table does not say."""
    return next((name for name, pattern in CLASSES.items() if re.match(pattern, opcode)), "other")


def plain_ptx(ptx: str) -> str:
    """The PTX without its debugging information, which names files of this machine."""
    kept = DEBUG.sub("", ptx).splitlines()
    return "\n".join(line.rstrip() for line in kept if line.strip()) + "\n"
