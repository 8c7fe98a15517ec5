import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '@holdfast/protocol/fault'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import type { CliContext } from '../context/cli-context.ts'
import type { Ended } from '../terminal/exit.ts'

/** A refusal names its file, so no later one takes its place; but nobody comes back for what so many others followed. */
const keptMax = 100

/**
 * What was piped in is in no shell's history: where it was refused, as for want of a key, it is kept in a file and the
 * refusal says where. Of a session that stopped nobody knows that it was refused.
 */
export async function saveRefusedPrompt(
  ended: Ended,
  prompt: string,
  { home, pid }: Pick<CliContext, 'home' | 'pid'>,
): Promise<Ended> {
  if (ended.type !== 'refused' || ended.fault.code === 'session_stopped') return ended
  const { code, message, details } = ended.fault
  const path = await written(join(home.stateDir, 'refused-prompts'), prompt, pid)
  if (path === null)
    return { type: 'refused', fault: fault(code, `${message} What was piped in could not be kept.`, details) }
  const said = `${message} What was piped in is kept in ${path}: send it with holdfast run < that file.`
  return { type: 'refused', fault: fault(code, said, { ...details, prompt: path }) }
}

/** Where it was kept; null where it could not be. */
async function written(directory: string, text: string, pid: number): Promise<string | null> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const kept = numbersIn(directory)
    const first = Math.max(0, ...kept) + 1
    // Others may be refused at the same time, and each number is taken once.
    for (let number = first; number < first + keptMax; number++) {
      const path = pathOf(directory, number)
      const file = openAtomicFile(path, { replaces: false, pid })
      if (!file.ok) continue
      await file.value.write(text)
      if (!file.value.keep().ok) continue
      for (const old of kept.filter((one) => one <= number - keptMax)) rmSync(pathOf(directory, old), { force: true })
      return path
    }
    return null
  } catch {
    return null // whoever asked says so
  }
}

const pathOf = (directory: string, number: number): string => join(directory, `${number}.txt`)

const numbersIn = (directory: string): readonly number[] =>
  readdirSync(directory).flatMap((name) => (/^\d{1,9}\.txt$/.test(name) ? [Number.parseInt(name, 10)] : []))
