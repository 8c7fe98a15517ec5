import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Evidence, Verdict } from './pass-criterion.ts'

const program = join(import.meta.dirname, 'child-judge.ts')

/** The same as `judge`, in a process that is gone afterwards. */
export async function judgeApart(evidence: Evidence): Promise<Verdict> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(evidence)])
  return JSON.parse(stdout) as Verdict // said by us
}
