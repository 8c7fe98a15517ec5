import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { lookAt, modeFindings, unfinishedFile } from '../../file-findings.ts'
import type { Finding } from '../../finding.ts'

/** A store that is made, and the copy of one that is brought to a newer version. */
const ofDraft = /^(\.v\d+-backup)?\.new-/

/** Who may read a store file and what SQLite keeps beside it, and what was never finished there. */
export async function checkBeside(path: string): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const mode = (await lookAt(path))?.mode
  findings.push(...(await modeFindings(path)))
  for (const file of [`${path}-wal`, `${path}-shm`]) {
    // SQLite gives them the mode of the file, whose finding is theirs too; those a look makes are gone after it.
    const beside = await lookAt(file)
    if (beside !== null && beside.mode !== mode) findings.push(...(await modeFindings(file)))
  }
  const name = basename(path)
  for (const other of await readdir(dirname(path))) {
    if (other.startsWith(name) && ofDraft.test(other.slice(name.length)))
      findings.push(unfinishedFile(join(dirname(path), other)))
  }
  return findings
}
