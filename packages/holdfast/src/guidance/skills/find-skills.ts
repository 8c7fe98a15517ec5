import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { ok, type Result } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import { createParsedFiles, tooLong } from '../guidance-file.ts'
import type { GuidanceRoot } from '../guidance-roots.ts'
import { existsIn, listFolder, realOrNull } from '../list-folder.ts'
import type { SkillFile } from './parse-skill.ts'

/** A skill as it is on disk. */
export type SkillOnDisk = {
  /** Its name: that of its folder, or of the link to it. */
  readonly name: string
  readonly scope: GuidanceRoot['scope']
  /** Its folder, without links. */
  readonly folder: string
  /** What its SKILL.md says, or why it cannot be used. */
  readonly file: Result<SkillFile & { readonly source: string; readonly hash: string }>
}

export const skillFileName = 'SKILL.md'
const depthMax = 6
const foldersMax = 2000
const entriesMax = 20_000
const readAtOnce = 16
const skipped = new Set(['.git', 'node_modules'])

/** Finds the skills below folders: in the order of the folders, and in one folder by path. A skill is found once. */
export function createSkillFinder() {
  const readFile = createParsedFiles(async ({ text, isCut }, path) => {
    const { parseSkill } = await import('./parse-skill.ts') // YAML is loaded for the first skill
    const parsed = parseSkill(basename(join(path, '..')), text)
    const hash = createHash('sha256').update(text).digest('hex')
    return { ...parsed, problems: isCut ? [...parsed.problems, tooLong] : parsed.problems, source: text, hash }
  })

  return async (roots: readonly GuidanceRoot[]): Promise<readonly SkillOnDisk[]> => {
    const found = await Promise.all(
      roots.map(async (root) => {
        const folders = (await existsIn(root.path)) ? await findFolders(root) : []
        return folders.map((folder) => ({ ...folder, scope: root.scope }))
      }),
    )
    const seen = new Set<string>()
    const folders = found.flat().filter(({ folder }) => !seen.has(folder) && seen.add(folder)) // a link and its target
    const skills: SkillOnDisk[] = []
    for (let from = 0; from < folders.length; from += readAtOnce) {
      const read = folders.slice(from, from + readAtOnce).map(async ({ folder, name, scope }) => {
        const file = await readFile(folder, skillFileName)
        return { name, scope, folder, file: file.ok ? ok(file.value) : file }
      })
      skills.push(...(await Promise.all(read)))
    }
    return skills
  }
}

type FoundFolder = Pick<SkillOnDisk, 'name' | 'folder'>

/** Returns the folders below a root that have a SKILL.md. A folder in a skill is part of it. */
async function findFolders({ path, within }: GuidanceRoot): Promise<readonly FoundFolder[]> {
  const found: FoundFolder[] = []
  const visited = new Set<string>()
  let entriesLeft = entriesMax
  const visit = async (folder: string, name: string, depth: number): Promise<void> => {
    if (visited.has(folder) || visited.size >= foldersMax) return
    if (within !== null && !isInside(within, folder)) return
    visited.add(folder)
    const entries = await listFolder(folder, entriesLeft)
    entriesLeft -= entries.length
    if (depth > 0 && entries.some((entry) => entry.name === skillFileName)) found.push({ name, folder })
    else if (depth < depthMax)
      for (const entry of entries) {
        if (skipped.has(entry.name)) continue
        const inner = join(folder, entry.name)
        const real = entry.isSymbolicLink() ? await realOrNull(inner) : entry.isDirectory() ? inner : null
        if (real !== null) await visit(real, entry.name, depth + 1)
      }
  }
  const real = await realOrNull(path)
  if (real !== null) await visit(real, '', 0)
  return found
}
