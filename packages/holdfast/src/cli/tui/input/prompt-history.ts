import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../../../system/files/private-directory.ts'
import type { Home } from '../../../system/home.ts'

/** Prompts that are kept, and how long one may be: the file is read at each start. */
const kept = 500
const charsMax = 10_000

/** The prompts that were sent from terminals of this user, for the arrow keys. */
export interface PromptHistory {
  add(text: string): void
  /** Goes back or forth. `text` is what is in the input now; it comes back at the end. Null where there is nothing more. */
  move(by: 1 | -1, text: string): string | null
  /** Forgets where the arrow keys are. */
  reset(): void
}

export function openPromptHistory({ stateDir }: Pick<Home, 'stateDir'>): PromptHistory {
  const path = join(stateDir, 'terminal-history.jsonl')
  let known: string[] | null = null
  let at: number | null = null
  let typed = ''
  const load = (): string[] => {
    known ??= readPrompts(path)
    return known
  }
  return {
    add(text) {
      at = null
      const prompts = load()
      if (text.trim() === '' || text.length > charsMax || prompts.at(-1) === text) return
      prompts.push(text)
      try {
        ensurePrivateDirectory(stateDir)
        if (prompts.length > 2 * kept) {
          prompts.splice(0, prompts.length - kept)
          writeFileSync(path, prompts.map(toLine).join(''), { mode: 0o600 })
        } else appendFileSync(path, toLine(text), { mode: 0o600 })
      } catch {
        // A history that cannot be written is kept in memory.
      }
    },
    move(by, text) {
      const prompts = load()
      const from = at ?? prompts.length
      if (at === null) typed = text
      const next = from + by
      if (next < 0 || next > prompts.length || (at === null && by === 1)) return null
      at = next === prompts.length ? null : next
      return at === null ? typed : (prompts[at] ?? null)
    },
    reset() {
      at = null
    },
  }
}

const toLine = (text: string): string => `${JSON.stringify(text)}\n`

function readPrompts(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((one) => {
        try {
          const parsed: unknown = JSON.parse(one)
          return typeof parsed === 'string' ? [parsed] : []
        } catch {
          return [] // an empty or torn line
        }
      })
      .slice(-kept)
  } catch {
    return [] // there is none yet
  }
}
