import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import type { CliContext } from '../terminal/cli-context.ts'

/** Older files are deleted. */
const filesMax = 100

/** Saves a refused piped prompt, which no shell history has. Not after `session_stopped`: it may have been accepted. */
export async function saveRefusedPrompt(
  refusal: Fault,
  prompt: string,
  { home, pid }: Pick<CliContext, 'home' | 'pid'>,
): Promise<Fault> {
  const { code, message, details } = refusal
  if (code === 'session_stopped') return refusal
  const path = await saveToNewFile(join(home.stateDir, 'refused-prompts'), prompt, pid)
  if (path === null) return fault(code, `${message} The piped prompt could not be saved.`, details)
  const hint = `The piped prompt is saved. To send it again: holdfast run < ${path}`
  return fault(code, `${message} ${hint}`, { ...details, prompt: path })
}

/** Writes the next numbered file. Returns its path, or null if that fails. */
async function saveToNewFile(directory: string, text: string, pid: number): Promise<string | null> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const saved = numbersIn(directory)
    const first = Math.max(0, ...saved) + 1
    // Another process may take a number at the same time; then the next one is tried.
    for (let number = first; number < first + filesMax; number++) {
      const path = pathOf(directory, number)
      const file = openAtomicFile(path, { replaces: false, pid })
      if (!file.ok) continue
      await file.value.write(text)
      if (!file.value.commit().ok) continue
      for (const old of saved.filter((one) => one <= number - filesMax)) rmSync(pathOf(directory, old), { force: true })
      return path
    }
    return null
  } catch {
    return null // the caller reports it
  }
}

const pathOf = (directory: string, number: number): string => join(directory, `${number}.txt`)

const numbersIn = (directory: string): readonly number[] =>
  readdirSync(directory).flatMap((name) => (/^\d{1,9}\.txt$/.test(name) ? [Number.parseInt(name, 10)] : []))
