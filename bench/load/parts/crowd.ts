import { forkPart } from './fork-part.ts'
import type { Percentiles } from './percentiles.ts'
import type { Target } from './viewer.ts'

export type CrowdOrder =
  | { readonly do: 'open'; readonly target: Target; readonly paths: readonly string[] }
  | { readonly do: 'forget' }
  | { readonly do: 'report' }
  | { readonly do: 'wait'; readonly words: number }
  | { readonly do: 'wait-records'; readonly upTo: number }
  | { readonly do: 'wait-closed' }
  | { readonly do: 'drop' }
  | { readonly do: 'reopen'; readonly upTo: number }
  | { readonly do: 'cycle'; readonly target: Target; readonly count: number; readonly atOnce: number }

export type CrowdReport = {
  readonly late: Percentiles
  readonly viewers: number
  /** Viewers whose connection is open. */
  readonly open: number
  readonly words: number
  readonly records: number
  readonly missed: number
  readonly leastWords: number
  readonly leastRecords: number
  readonly mostRecords: number
  /** The oldest cursor of all. */
  readonly lastId: number
  /** The reasons of `end` frames. */
  readonly ends: readonly string[]
}

export type Crowd = ReturnType<typeof startCrowd>

/** Starts a process with viewers, by another program if `by` names one. The same viewers watch every server that is compared. */
export function startCrowd(by: readonly string[] = []) {
  const part = forkPart('crowd-process.ts', by)
  const order = async (asked: CrowdOrder): Promise<CrowdReport> => {
    const answer = await part.ask<{ readonly done: CrowdReport } | { readonly failed: string }>(asked)
    if ('failed' in answer) throw new Error(answer.failed)
    return answer.done
  }
  return {
    process: part.process,
    /** Opens viewers and waits until each has its first event. */
    open: (target: Target, count: number) => order({ do: 'open', target, paths: Array(count).fill(target.path) }),
    /** Opens a viewer of each path. */
    openEach: (target: Target, paths: readonly string[]) => order({ do: 'open', target, paths }),
    /** Forgets the delays so far. */
    forget: () => order({ do: 'forget' }),
    report: () => order({ do: 'report' }),
    /** Waits until each viewer has this many words. */
    waitForWords: (words: number) => order({ do: 'wait', words }),
    waitForRecords: (upTo: number) => order({ do: 'wait-records', upTo }),
    waitForClose: () => order({ do: 'wait-closed' }),
    drop: () => order({ do: 'drop' }),
    reopen: (upTo: number) => order({ do: 'reopen', upTo }),
    cycle: (target: Target, count: number, atOnce: number) => order({ do: 'cycle', target, count, atOnce }),
    [Symbol.asyncDispose]: () => part[Symbol.asyncDispose](),
  }
}
