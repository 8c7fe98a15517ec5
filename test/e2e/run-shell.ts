import { execFileSync, spawn } from 'node:child_process'
import { expect } from 'vitest'

/** Returns whether this machine has a program. */
export function canRun(program: string): boolean {
  try {
    execFileSync(program, ['--version'])
    return true
  } catch {
    return false
  }
}

/** Runs a script with bash until its first failing command, and expects that none fails. Returns its output. */
export async function runShell(
  script: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly out: string; readonly err: string }> {
  const shell = spawn('bash', ['-c', `set -eu\n${script}`], { cwd, env: { ...process.env, ...environment } })
  let [out, err] = ['', '']
  shell.stdout.on('data', (chunk) => {
    out += chunk
  })
  shell.stderr.on('data', (chunk) => {
    err += chunk
  })
  const code = await new Promise((resolve) => shell.on('close', resolve))
  expect([code, err, out.slice(-2000)]).toEqual([0, expect.any(String), expect.any(String)])
  return { out, err }
}
