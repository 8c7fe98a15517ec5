import { readFileSync } from 'node:fs'

/** One fault of the tracer: which system calls, what becomes of them, and which of them it hits. */
export type Injection = {
  readonly calls: readonly string[]
  readonly does: `error=${string}` | 'signal=KILL'
  /** `3` is the third alone, `3+` the third and all after it. */
  readonly when: string
}

export type Tracing = {
  readonly injection: Injection
  /** Only calls on these files. */
  readonly paths?: readonly string[] | undefined
  /** Where the tracer writes down what it saw; nowhere unless asked. */
  readonly logPath?: string | undefined
}

/**
 * What to put before a program so that the n-th of these calls is hit. The tracer counts each call for each thread alone,
 * so a sweep over n is whole only for one call that one thread makes: the writer's worker of SQLite, the one thread of
 * libuv's pool (`oneThread`) for plain files. Node itself writes to its pipes and event counters: `write` is traced with
 * `paths` only. A filter in the kernel (`--seccomp-bpf`) would be faster, but with it nothing after the first is hit.
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

/** Whether a call was made to fail: some failures are borne without a word, and must not be taken for the end. */
export const wasHit = (logPath: string): boolean => readFileSync(logPath, 'utf8').includes('(INJECTED)')
