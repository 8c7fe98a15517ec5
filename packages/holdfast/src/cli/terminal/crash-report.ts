import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { exitCodes } from './exit.ts'

type CrashListener = (cause: unknown) => void
export type OnCrash = (listener: CrashListener) => void

type CrashDeps = {
  /** Writes to standard error synchronously, because the process ends right after. */
  readonly write: (text: string) => void
  readonly exit: (code: number) => void
}

/** Reports an uncaught error once, with keys masked, and ends the process. Listeners get the error first. */
export function createCrashReporter({ write, exit }: CrashDeps) {
  const listeners = new Set<CrashListener>()
  return {
    onCrash: (listener: CrashListener): void => void listeners.add(listener),
    end(cause: unknown): void {
      try {
        for (const listener of listeners) listener(cause)
        write(formatCrash(cause))
      } finally {
        exit(exitCodes.failed) // even if a listener or the write fails
      }
    },
  }
}

/** Returns the report of a crash: the stack only, because an error's other fields may hold a request with its key. */
export function formatCrash(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return `Holdfast crashed. This is a bug; please report it.\n${escapeHidden(maskKeys(text))}\n`
}
