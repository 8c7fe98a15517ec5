import type { Instructions } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { openFile } from '../../system/files/open-file.ts'
import { readRange } from '../../system/files/read-range.ts'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { baseText } from './base-text.ts'
import { memoryText, type ReadableMemory } from './memory-text.ts'

const workdirFile = 'AGENTS.md'
const workdirFileBytesMax = limits.workdirInstructionsBytesMax

export type InstructionsDeps = {
  readonly now: () => number
  readonly memory: ReadableMemory
}

/** The system text: the same for the same day, mode, workdir, AGENTS.md and memory. */
export function createInstructions({ now, memory }: InstructionsDeps): Instructions {
  return {
    async gather({ workdir, mode, added }) {
      const day = new Date(now()).toISOString().slice(0, 'yyyy-mm-dd'.length)
      const parts = [
        baseText({ workdir, day, mode }),
        // Files may hold a key, as what a tool reads may: both are on record and sent to whichever service answers.
        maskKeys(await readWorkdirFile(workdir)),
        maskKeys(memoryText(await memory.read(workdir))),
        added?.trim() ?? '',
      ]
      return parts.filter((part) => part !== '').join('\n\n')
    },
  }
}

/** The workdir's own instructions. One that is missing, unreadable or leads out of the workdir says nothing. */
async function readWorkdirFile(workdir: string): Promise<string> {
  try {
    const opened = await openFile(workdir, workdirFile)
    if (!opened.ok) return ''
    await using handle = opened.value.handle
    const { bytes, end } = await readRange(handle, {
      offset: 1,
      lines: Number.MAX_SAFE_INTEGER,
      bytesMax: workdirFileBytesMax,
      signal: new AbortController().signal, // never aborted: what is read is small
    })
    const text = bytes.toString('utf8').trim()
    if (text === '' || bytes.includes(0)) return ''
    const note = end === 'bytes' ? `\n[cut at ${workdirFileBytesMax} bytes; the rest is in ${workdirFile}]` : ''
    return `# ${workdirFile} of the working directory\n\n${text}${note}`
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return ''
  }
}
