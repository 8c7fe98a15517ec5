import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Environment } from '../../../system/home.ts'

/** Opens the text in the person's editor, and returns what it saved. The terminal belongs to the editor meanwhile. */
export async function editOutside(text: string, environment: Environment): Promise<Result<string>> {
  const command = environment['VISUAL'] || environment['EDITOR'] || 'vi'
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-prompt-'))
  const path = join(folder, 'prompt.md')
  try {
    writeFileSync(path, text, { mode: 0o600 })
    // By the shell: an editor may have arguments, such as `code --wait`.
    const code = await runInTerminal('/bin/sh', ['-c', `${command} "$1"`, 'editor', path])
    if (code !== 0) return refuse(fault('bad_request', `The editor ended with code ${code}. The text is unchanged.`))
    return ok(readFileSync(path, 'utf8').replace(/\n$/, ''))
  } catch (error) {
    return refuse(fault('bad_request', `The editor could not be started: ${String(error)}`))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const runInTerminal = (program: string, args: readonly string[]): Promise<number | null> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) => resolve(code))
  })
