import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Evidence, Verdict } from './pass-criterion.ts'

const program = join(import.meta.dirname, 'child-verify.ts')

/** Runs `verify` in its own process. */
export async function verifyInProcess(evidence: Evidence): Promise<Verdict> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(evidence)])
  return JSON.parse(stdout) as Verdict // written by this suite
}
