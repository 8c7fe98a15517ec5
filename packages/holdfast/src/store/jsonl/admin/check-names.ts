import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lookAt, modeFindings, unfinishedFile } from '../../file-findings.ts'
import { type Finding, info } from '../../finding.ts'
import { draftMark } from '../../temporary-path.ts'
import { isOurs } from '../files/layout.ts'

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
