import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Fault } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { type Report, verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'

const scratch = useScratch({ inMemory: true })
const program = join(import.meta.dirname, '..', 'child-without-descriptors.ts')
const descriptorsMax = 80

type Answer = { readonly ok: boolean; readonly fault?: Fault; readonly afterMs?: number }

it.each(['sqlite', 'jsonl', 'blobs'] as const)(
  'D13 %s: refuses without file descriptors and continues once there are some',
  async (kind) => {
    const places = [scratch.location(kind), scratch.location(kind)] as const
    const command = `ulimit -n ${descriptorsMax}; exec "$0" "$@"`
    const args = ['-c', command, process.execPath, program, JSON.stringify(places)]
    const { stdout } = await promisify(execFile)('sh', args)
    const answered = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { step: string; answer: Answer })
    const answers = new Map(answered.map(({ step, answer }) => [step, answer]))
    expect(answers.get('create')?.ok).toBe(true)
    expect(answers.get('without: open another')?.ok).toBe(false)
    expect([answers.get('with: open another')?.ok, answers.get('with: create')?.ok]).toEqual([true, true])
    const reports: Report[] = answered.flatMap(({ answer: { fault, afterMs = 0 } }) =>
      fault === undefined ? [] : [{ fault, afterMs }],
    )
    const isSecondThere = answers.get('without: create')?.ok === true
    const logs = isSecondThere ? [1, 2, 3] : [1, 3]
    const witnesses = logs.map((log) => ({ log, submitted: 1, acknowledged: 1 }))
    const verdict = await verify({ location: places[0], witnesses, reports })
    expect(verdict.violations).toEqual([])
  },
)
