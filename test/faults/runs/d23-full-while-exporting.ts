import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { orThrow, SessionId } from '@holdfast/protocol'
import { bin } from '../../e2e/server-process.ts'
import { system } from '../machine.ts'
import { type Shown, verify } from '../pass-criterion.ts'
import type { Row, RowRun } from '../row.ts'
import { openInlineSubject } from '../subject/inline-sqlite.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'

const formats = ['md', 'html', 'json', 'jsonl'] as const
const recordsMax = 100_000
const precious = 'what was exported last week\n'

/** An export to a full disk leaves the earlier file intact, no other file, and the store unchanged. */
export const fullWhileExporting: Row = {
  name: 'D23',
  fault: 'a disk that fills up during an export',
  needs: ['root', 'tmpfs'],
  async run({ home }: RowRun) {
    const violations: string[] = []
    const env = { ...process.env, HOLDFAST_HOME: join(home, 'home'), DEMO_PACE: '0' }
    const holdfast = (...args: readonly string[]) =>
      spawnSync(process.execPath, [bin, ...args], { env, cwd: home, encoding: 'utf8' })
    const created = holdfast('run', 'count to 20000')
    if (created.status !== 0) throw new Error(`no session to export: ${created.stderr}`)
    const listed = JSON.parse(holdfast('ls', '--all', '--json').stdout)
    const id = String(listed.sessions[0].id)
    const location: SubjectLocation = { kind: 'sqlite', directory: join(home, 'home', 'data') }
    const shown = await allOf(location, SessionId.parse(id))
    const mount = join(home, 'small')
    mkdirSync(mount)
    system('mount', '-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', mount)
    try {
      for (const format of formats) {
        const path = join(mount, `talk.${format}`)
        writeFileSync(path, precious)
        const before = readdirSync(mount).toSorted()
        const { status, stderr } = holdfast('export', id, '--format', format, '--output', path, '--force')
        if (status === 0) violations.push(`P1 ${format}: reported success on a full disk`)
        if (!/ENOSPC|full|space/i.test(stderr)) violations.push(`P10 ${format}: unclear error: ${stderr}`)
        if (readFileSync(path, 'utf8') !== precious) violations.push(`P7 ${format}: the file of before is gone`)
        const after = readdirSync(mount).toSorted()
        if (after.join() !== before.join()) violations.push(`P7 ${format}: left behind: ${after.join()}`)
      }
    } finally {
      system('umount', mount)
    }
    violations.push(...(await verify({ location, shown: [shown] })).violations)
    return { did: `${formats.join(', ')} onto 32 kB`, violations }
  },
}

async function allOf({ directory }: SubjectLocation, session: SessionId): Promise<Shown> {
  const subject = orThrow(openInlineSubject(databaseIn(directory)))
  const digests = await subject.page(session, 0, recordsMax)
  await subject.close()
  return { session, after: 0, digests }
}
