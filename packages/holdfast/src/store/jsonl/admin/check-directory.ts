import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Seq } from '@holdfast/protocol'
import { lookAt, modeFindings, unfinishedFile } from '../../file-findings.ts'
import { error, type Finding, info, warning } from '../../finding.ts'
import { draftMark } from '../../temporary-path.ts'
import { readCatalogue } from '../catalogue/catalogue-file.ts'
import { parseTrash } from '../catalogue/trash-file.ts'
import { createJsonlPaths, findLogs, isOurs } from '../files/layout.ts'
import { loadLog } from '../log/load-log.ts'

/** What is wrong with the files of a directory of logs, beside their records. */
export async function checkDirectory(directory: string, isHeld: boolean): Promise<readonly Finding[]> {
  const places = createJsonlPaths(directory)
  const findings: Finding[] = []
  const catalogue = await readCatalogue(places.catalogue)
  const logs = await findLogs(places)
  if (existsSync(places.catalogue) && !catalogue.isWhole && !isHeld) {
    findings.push(warning({ code: 'catalogue', place: places.catalogue, what: 'it cannot be read to its end' }))
  }
  if (existsSync(places.trash) && parseTrash(await readFile(places.trash, 'utf8')) === null) {
    findings.push(warning({ code: 'trash', place: places.trash, what: 'the list of what is in the trash is damaged' }))
  }
  for (const { id, isShared, bytes } of logs) {
    const path = places.log(id, isShared)
    const known = catalogue.rows.get(id) ?? null
    const loaded = await loadLog({ path, session: id, known, isShared, leavesTail: true })
    if (loaded === null && (await lookAt(path)) === null) continue // removed meanwhile
    if (loaded === null) {
      findings.push(
        error({ code: 'unusable', place: path, what: 'it has the name of a log, and is none; it is left alone' }),
      )
      continue
    }
    const { torn, header } = loaded
    if (header === null) findings.push(error({ code: 'damaged_file', place: path, what: 'its first line is damaged' }))
    if (isHeld) continue // what is being written is not torn, and the catalogue follows
    const head = loaded.index.head()
    if (known !== null && head < known.head) {
      const what = `it ends at ${head}, and went up to ${known.head} before: what is missing cannot be had back`
      const loss = `${spanOf(head, known.head)} of ${id}`
      findings.push(error({ code: 'head', place: path, what, canMend: true, loss }))
    }
    if (torn !== null) {
      const what = `its last ${torn.bytes} bytes are of an append that was never acknowledged`
      findings.push(warning({ code: 'torn_tail', place: path, what }))
    } else if (existsSync(places.catalogue) && (known === null || known.bytes !== bytes) && catalogue.isWhole) {
      findings.push(warning({ code: 'catalogue', place: path, what: 'the catalogue does not have it as it is' }))
    }
  }
  const there = new Set(logs.map(({ id }) => id))
  for (const { id, isShared, base, head } of isHeld ? [] : catalogue.rows.values()) {
    if (there.has(id)) continue
    const what = 'the log of a session is gone; without it the session is lost'
    const loss = `session ${id} with ${spanOf(base, head)}`
    findings.push(error({ code: 'missing_log', place: places.log(id, isShared), what, canMend: true, loss }))
  }
  return findings
}

const spanOf = (after: Seq, upTo: Seq): string =>
  upTo - after === 1 ? `record ${upTo}` : `records ${after + 1} to ${upTo}`

/** What lies in a directory of logs, by its names: who may read it, what is no file of ours, what was never finished. */
export async function checkNames(directory: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [...(await modeFindings(directory))]
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const found = await lookAt(path)
    if (found === null) continue
    if (name.includes(draftMark)) findings.push(unfinishedFile(path))
    else if (/\.torn-\d+$/.test(name)) findings.push(keptAside(path))
    else if (/^trash\.json\.damaged-\d+$/.test(name)) findings.push(damagedAside(path))
    else if (!found.isFile()) {
      if (['drafts', 'snapshots', 'blobs', 'quarantine'].includes(name)) findings.push(...(await modeFindings(path)))
      else findings.push(foreign(path))
    } else if (isOurs(name) || name === '.lock') findings.push(...(await modeFindings(path)))
    else findings.push(foreign(path))
  }
  for (const side of ['drafts', 'snapshots']) {
    for (const name of existsSync(join(directory, side)) ? await readdir(join(directory, side)) : []) {
      const path = join(directory, side, name)
      findings.push(...(name.includes(draftMark) ? [unfinishedFile(path)] : await modeFindings(path)))
    }
  }
  return findings
}

const keptAside = (path: string): Finding =>
  info({
    code: 'kept_aside',
    place: path,
    what: 'the end of a log that a crash left half-written; it was never acknowledged',
  })
const damagedAside = (path: string): Finding =>
  info({
    code: 'kept_aside',
    place: path,
    what: 'the list of the trash as it was found, damaged; its sessions are listed again',
  })
const foreign = (path: string): Finding =>
  info({ code: 'foreign_file', place: path, what: 'not a file of this store; it is left alone' })
