import { done, type Result } from '@holdfast/protocol'
import { readRefreshed } from './catalogue-file.ts'
import type { FactsByModel } from './facts-by-model.ts'

/** The facts of the last refresh, as they were when they were last read. */
export interface RefreshedFacts {
  all(): FactsByModel
  /** The day to which they hold; null when there was no refresh. */
  asOf(): string | null
  /** Reads them anew. Refused, what was known stays. */
  read(): Promise<Result<undefined>>
}

export function createRefreshedFacts(path: string): RefreshedFacts {
  let models: FactsByModel = {}
  let asOf: string | null = null
  return {
    all: () => models,
    asOf: () => asOf,
    async read() {
      const file = await readRefreshed(path)
      if (!file.ok) return file
      models = file.value?.models ?? {}
      asOf = file.value?.asOf ?? null
      return done
    },
  }
}
