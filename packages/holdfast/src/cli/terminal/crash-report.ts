import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { exitCodes } from './exit.ts'

export type OnCrash = (hear: (cause: unknown) => void) => void

/** What nobody caught: it is told once, without a key, and ends the process. */
export interface Crash {
  /** Whoever is added hears of it first. */
  readonly onCrash: OnCrash
  readonly end: (cause: unknown) => void
}

export type CrashDeps = {
  /** Writes to standard error at once: there is no later. */
  readonly write: (text: string) => void
  readonly exit: (code: number) => void
}

export function createCrash({ write, exit }: CrashDeps): Crash {
  const hearers = new Set<(cause: unknown) => void>()
  return {
    onCrash: (hear) => void hearers.add(hear),
    end(cause) {
      try {
        for (const hear of hearers) hear(cause)
        write(crashText(cause))
      } finally {
        exit(exitCodes.failed) // whoever cannot be told must not keep us
      }
    },
  }
}

/** What Node would print holds all that hangs on an error, a whole request with its headers among it. */
export function crashText(cause: unknown): string {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return `Holdfast met something it did not foresee; please report it.\n${escapeHidden(maskKeys(what))}\n`
}
