import { appendFileSync, chmodSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flipAt, type Planted, type Row } from './planted-store.ts'

/** The log of a session. */
export const logOf = ({ location }: Planted, session: string) => join(location.path, `${session}.jsonl`)

function flipInMiddle(path: string): void {
  const lines = readFileSync(path, 'latin1').split('\n')
  flipAt(path, lines.slice(0, 4).join('\n').length + 40)
}

export const jsonlDamages: readonly Row[] = [
  ['a flipped record (D7)', 'lost_records', (one) => flipInMiddle(logOf(one, one.sessions.talk))],
  ['a torn tail (D6)', 'torn_tail', (one) => appendFileSync(logOf(one, one.sessions.talk), '{"seq":99,"at":"20')],
  ['a tail of NULs (D6)', 'torn_tail', (one) => appendFileSync(logOf(one, one.sessions.talk), Buffer.alloc(100))],
  [
    'a log cut short (D5)',
    'head',
    (one) => truncateSync(logOf(one, one.sessions.fork), readFileSync(logOf(one, one.sessions.fork)).length - 30),
  ],
  ['a log that is gone (D14)', 'missing_log', (one) => rmSync(logOf(one, one.sessions.trashed))],
  [
    'a garbled catalogue (D18)',
    'catalogue',
    (one) => writeFileSync(join(one.location.path, 'catalogue.jsonl'), 'garbage\nmore\n'),
  ],
  [
    'a stale catalogue (D18)',
    'catalogue',
    (one) => {
      const path = join(one.location.path, 'catalogue.jsonl')
      const lines = readFileSync(path, 'utf8').split('\n')
      writeFileSync(path, `${lines.slice(0, 2).join('\n')}\n`)
    },
  ],
  ['a damaged trash list', 'trash', (one) => writeFileSync(join(one.location.path, 'trash.json'), '{"trashed":{}}')],
  [
    'a damaged stored fold',
    'snapshot',
    (one) =>
      writeFileSync(
        join(one.location.path, 'snapshots', `${one.sessions.talk}.json`),
        '{"seq":1,"fold":1,"crc":1}\n{}',
      ),
  ],
  [
    'a process that is gone (D17)',
    'dead_node',
    (one) =>
      writeFileSync(
        join(one.location.path, 'nodes.json'),
        JSON.stringify([{ id: 'node_gone', address: '/nowhere.sock', startedAt: '2026-01-01T00:00:00.000Z' }]),
      ),
  ],
  [
    'a file that was never finished',
    'unfinished_file',
    (one) => writeFileSync(join(one.location.path, 'trust.json.new-12'), 'half'),
  ],
  ['a log others may read (D25)', 'permissions', (one) => chmodSync(logOf(one, one.sessions.talk), 0o644)],
  [
    'a parent that is gone',
    'lineage',
    (one) => {
      rmSync(join(one.location.path, `${one.sessions.purged}.shared.jsonl`))
      rmSync(join(one.location.path, 'catalogue.jsonl'))
    },
    'permanent',
  ],
  [
    'a log whose first line is damaged',
    'damaged_file',
    (one) => flipAt(logOf(one, one.sessions.talk), 20),
    'permanent',
  ],
  [
    'the end of a log that was put aside',
    'kept_aside',
    (one) => writeFileSync(`${logOf(one, one.sessions.talk)}.torn-1`, 'half', { mode: 0o600 }),
    'harmless',
  ],
  [
    'a log that only a saved copy has (D14)',
    'saved_copy',
    (one) => renameSync(logOf(one, one.sessions.trashed), `${logOf(one, one.sessions.trashed)}.recovered-1`),
  ],
  [
    "a stranger's file",
    'foreign_file',
    (one) => writeFileSync(join(one.location.path, 'shopping.txt'), 'a list'),
    'harmless',
  ],
  [
    'a stranger with the name of a log (D15, D19)',
    'unusable',
    (one) => writeFileSync(join(one.location.path, 'ses_00000000000000000000000009.jsonl'), 'a shopping list\n'),
    'permanent',
  ],
]
