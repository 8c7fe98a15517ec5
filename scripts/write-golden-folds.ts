import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Recorded, type SessionId } from '@holdfast/protocol'
import { type Folded, fold } from '../packages/core/src/runtime/log/load-session.ts'
import { foldNumber } from '../packages/core/src/session/evolve.ts'

/** Writes down what the golden logs fold to now. To be run when the fold has got a new number, and at no other time. */
const root = resolve(import.meta.dirname, '..')
for (const log of globSync('test/golden/*.jsonl', { cwd: root })) {
  const golden = join(root, log.replace(/[.]jsonl$/, '.fold.json'))
  const { session } = JSON.parse(readFileSync(golden, 'utf8')) as { session: SessionId } // our own file
  const records = readFileSync(join(root, log), 'utf8').trim().split('\n')
  const folded = records.reduce<Folded | null>(
    (sum, line) => fold(sum, session, Recorded.parse(JSON.parse(line))),
    null,
  )
  writeFileSync(golden, `${JSON.stringify({ session, fold: foldNumber, folded }, null, 2)}\n`)
}
