import { basename } from 'node:path'
import { escapeHidden, escapeLine, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { statFile } from '../../system/files/open-file.ts'
import {
  appendLine,
  findPlace,
  type MemoryScope,
  memoryFull,
  openPlace,
  type RememberedText,
  readMemory,
  readMemoryEnd,
} from './memory-file.ts'

const bytesMax = limits.memoryBytesMax

type MemoryDeps = {
  readonly userFile: string
  readonly now: () => number
}

type MemoryNote = { readonly workdir: string; readonly scope: MemoryScope; readonly text: string }

/** Creates the memory shared by sessions: a file of the user and one of the workspace, read anew each time. */
export function createMemory({ userFile, now }: MemoryDeps) {
  return {
    async read(workdir: string): Promise<Readonly<Record<MemoryScope, RememberedText | null>>> {
      const [user, workspace] = await Promise.all([
        readMemory({ scope: 'user', workdir, userFile }),
        readMemory({ scope: 'workspace', workdir, userFile }),
      ])
      return { user, workspace }
    },

    /** Returns the file before and after. The time is not known yet: a person may have to approve first. */
    async foresee({ workdir, scope, text }: MemoryNote): Promise<Result<Foreseen>> {
      const found = await findPlace({ scope, workdir, userFile })
      if (!found.ok) return found
      const stats = await statFile(found.value)
      if (!stats.ok) return stats
      const { shown } = found.value
      const size = stats.value?.size ?? 0
      if (size + Buffer.byteLength(memoryLine(text, minuteOf(now()))) > bytesMax)
        return refuse(memoryFull(escapeLine(shown), bytesMax))
      const before = stats.value && ((await readMemoryEnd({ scope, workdir, userFile }))?.bytes.toString('utf8') ?? '')
      return ok({ path: shown, before, after: withLine(before ?? '', memoryLine(text, 'time of writing')) })
    },

    async append({ workdir, scope, text }: MemoryNote): Promise<Result<Appended>> {
      const found = await findPlace({ scope, workdir, userFile })
      if (!found.ok) return found
      const { shown, absolute, missing } = found.value
      const opened = await openPlace(scope, found.value)
      if (!opened.ok) return opened
      await using directory = opened.value
      const line = memoryLine(text, minuteOf(now()))
      const appended = await appendLine(directory.at(basename(absolute)), {
        line,
        shown: escapeLine(shown),
        mode: scope === 'user' ? 0o600 : 0o666,
        bytesMax,
      })
      if (!appended.ok) return appended
      if (missing.length > 0) await directory.sync()
      return ok({ path: shown, change: missing.length > 0 ? 'created' : 'modified', line: line.trimEnd() })
    },
  }
}

type Foreseen = { readonly path: string; readonly before: string | null; readonly after: string }
type Appended = { readonly path: string; readonly change: 'created' | 'modified'; readonly line: string }

const withLine = (before: string, line: string): string =>
  before === '' || before.endsWith('\n') ? `${before}${line}` : `${before}\n${line}`

const breaks = /[\n\v\f\r\u0085\u2028\u2029]+/
// Some scripts and many emoji need these two joiners. Other invisible characters could hide text from people.
const apartFromJoiners = /[^\u200c\u200d]+/g

/** Returns a note as one list line, without line breaks and invisible characters. */
export function memoryLine(text: string, when: string): string {
  const pieces = text.split(breaks).map((piece) => piece.trim())
  const folded = pieces.filter((piece) => piece !== '').join(' ')
  return `- [${when}] ${folded.replaceAll('\t', ' ').replace(apartFromJoiners, escapeHidden)}\n`
}

/** Formats a time to the minute: `2026-03-04 12:00 UTC`. */
export const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
