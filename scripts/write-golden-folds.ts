import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Recorded, type SessionId } from '@holdfast/protocol'
import { type Folded, fold } from '../packages/core/src/runtime/log/load-session.ts'
import { foldNumber } from '../packages/core/src/session/evolve.ts'

const root = resolve(import.meta.dirname, '..')
const goldenOf = (log: string): string => log.replace(/[.]jsonl$/, '.fold.json')

/** Returns the golden file of a log for the current fold. */
function goldenFoldText(log: string): string {
  const { session } = JSON.parse(readFileSync(join(root, goldenOf(log)), 'utf8')) as { session: SessionId } // our own file
  const records = readFileSync(join(root, log), 'utf8').trim().split('\n')
  const folded = records.reduce<Folded | null>(
    (sum, line) => fold(sum, session, Recorded.parse(JSON.parse(line))),
    null,
  )
  return formatGoldenFold(goldenOf(log), { session, fold: foldNumber, folded })
}

/** Returns the content of a golden file as Biome formats it. */
export function formatGoldenFold(file: string, content: unknown): string {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${file}`], {
    cwd: root,
    input: JSON.stringify(content, null, 2),
    encoding: 'utf8',
  })
}

// Run this when the fold has a new number, and at no other time.
if (process.argv[1] === import.meta.filename)
  for (const log of globSync('test/golden/*.jsonl', { cwd: root }))
    writeFileSync(join(root, goldenOf(log)), goldenFoldText(log))
