import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from '../../store/finding.ts'
import { modeFindings, unfinishedFile } from '../../store/finding.ts'

/** Who may read the blobs, and which of them were never finished. */
export async function checkBlobFiles(directory: string): Promise<readonly Finding[]> {
  if (!existsSync(directory)) return []
  const findings: Finding[] = [...(await modeFindings(directory))]
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.name.startsWith('new-')) findings.push(unfinishedFile(path))
    else findings.push(...(await modeFindings(path)))
  }
  return findings
}
