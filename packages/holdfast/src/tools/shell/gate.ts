import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { invariant, type ProcessMark } from '@holdfast/protocol'
import { markProcess, markValue } from '../program/process-group.ts'
import { markEntry } from '../program/process-table.ts'
import { spawnAlone } from '../program/spawn-alone.ts'

/*
 * The leader of a command's process group. It waits for a line before it runs anything, so that the group can be
 * recorded first. If we die before that, the line never comes, the read ends, and nothing has run.
 *
 * - The command is an argument, never part of the script.
 * - It writes to a pipe of `cat`, which appends to a file: the output needs no memory of ours, and a process that leaves
 *   the group with its output open holds nothing of ours open. It does not write to the file itself, because `tee
 *   /dev/stderr` would then empty the file.
 * - The mark that ends its output comes by stdin: every process of the machine can read the arguments of another.
 * - Its exit code comes on descriptor 3, at once, even if a background process still writes. Then the end mark follows
 *   its output through the pipe, so that we know when all of it is in the file.
 * - SIGTERM is for the command. The leader and `cat` ignore it, so that the last output is read.
 * - The leader stays until it is killed with its group. While it lives, its group id cannot be reused.
 * - Our end of its stdin closes when we die, however we die. The watcher, a member of the group, waits for that and kills
 *   the whole group. It ignores signals before it starts: a command that signals its group at once must not end it.
 * - The watcher runs in the background and not the command, because a shell's background jobs ignore SIGINT for ever.
 *   The shell gives it /dev/null to read, hence descriptor 4.
 */
const script = `trap "" HUP INT QUIT TERM
IFS= read -r mark && IFS= read -r end && [ -n "$mark" ] || exit 1
export ${markEntry}="$mark"
die_with_owner() { IFS= read -r none; kill -s KILL 0; }
exec 4<&0
{ exec <&4 >&- 3>&- 4<&-; die_with_owner; } &
trap - HUP INT QUIT
exec 4<&-
{ trap : TERM; "$@" </dev/null 2>&1 3>&-; echo "$?" >&3; printf %s "$end"; } | exec cat 3>&-
exec >&- 3>&-
trap "" HUP INT QUIT
die_with_owner`

type GateOptions = {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** An open file that the output is appended to. */
  readonly output: number
  /** A program around the command that SIGTERM would end before the command can clean up. */
  readonly wrapper?: string | undefined
  /** Called once the leader is gone. Not called if no process could be started. */
  readonly release?: (() => Promise<void>) | undefined
}

/** A command in its own process group, not started yet. */
export interface Gate {
  readonly mark: ProcessMark
  /** Follows the output of the command in the file. */
  readonly endMark: string
  /** The command's own exit code, or null when it was cut short with the whole group. */
  readonly exitCode: Promise<number | null>
  /** Resolves when the leader is gone. */
  readonly gone: Promise<void>
  /** Resolves when `release` was called after that, also if it failed. */
  readonly released: Promise<void>
  /** A program around the command that gets no SIGTERM. */
  readonly wrapper?: string | undefined
  open(): void
}

/** Starts the gate of a program with its arguments. Rejects with the system error if no process can be started. */
export async function spawnGate(
  argv: readonly string[],
  { cwd, environment, output, wrapper, release }: GateOptions,
): Promise<Gate> {
  const endMark = `\u001e${randomUUID()}`
  const leader = await spawnAlone(() =>
    spawn('/bin/sh', ['-c', script, 'gate', ...argv], {
      cwd,
      env: environment,
      detached: true,
      stdio: ['pipe', output, 'ignore', 'pipe'],
    }),
  )
  const { pid, stdin, codes } = partsOf(leader)
  stdin.on('error', () => undefined) // the leader may be killed while we write to it
  const gone = new Promise<void>((resolve) => leader.once('exit', () => resolve()))
  const released = gone.then(release).catch(() => undefined) // what it leaves is removed at the next start
  const exitCode = readCode(codes)
  const mark = await markProcess(pid)
  const opened = `${markValue(mark)}\n${endMark}\n`
  return { mark, endMark, exitCode, gone, released, wrapper, open: () => stdin.write(opened) }
}

function partsOf({ pid, stdin, stdio }: ChildProcess) {
  // The cast: descriptor 3 was asked for as a pipe above, which Node's types do not follow.
  const codes = stdio[3] as Readable | null | undefined
  invariant(pid !== undefined && stdin && codes, 'a spawned gate has a pid and its pipes')
  return { pid, stdin: stdin as Writable, codes }
}

async function readCode(codes: Readable): Promise<number | null> {
  try {
    for await (const line of codes.setEncoding('utf8')) return Number(line)
  } catch {
    // A broken pipe has no exit code, like one that ends early.
  }
  return null
}
