import { readFileSync } from 'node:fs'

/** A fault that strace injects: the system calls, the effect, and which of the calls it hits. */
export type Injection = {
  readonly calls: readonly string[]
  readonly does: `error=${string}` | 'signal=KILL'
  /** `3` is only the third call, `3+` the third and all later ones. */
  readonly when: string
}

export type Tracing = {
  readonly injection: Injection
  /** Only calls on these files. */
  readonly paths?: readonly string[] | undefined
  /** The output file of the tracer, if any. */
  readonly logPath?: string | undefined
}

/**
 * Returns the command before a program that makes the n-th of these calls fail. strace counts calls for each thread, so a
 * sweep over n is complete only for calls of one thread: SQLite's writer worker, or the single thread of libuv's pool
 * (`oneThread`) for plain files. Node also writes to pipes and event counters, so `write` is traced with `paths` only. A
 * filter in the kernel (`--seccomp-bpf`) would be faster, but hits only the first call.
 */
export function traced({
  injection: { calls, does, when },
  paths = [],
  logPath = '/dev/null',
}: Tracing): readonly string[] {
  const only = paths.flatMap((path) => ['-P', path])
  const inject = `inject=${calls.join(',')}:${does}:when=${when}`
  return ['strace', '-f', '-qq', '-o', logPath, ...only, '-e', `trace=${calls.join(',')}`, '-e', inject]
}

export const oneThread = { UV_THREADPOOL_SIZE: '1' } as const

/** Returns whether a call failed. Some failures are tolerated silently and must not end the sweep. */
export const wasHit = (logPath: string): boolean => readFileSync(logPath, 'utf8').includes('(INJECTED)')
