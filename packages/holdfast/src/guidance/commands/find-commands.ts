import { dirname, join, relative } from 'node:path'
import { clip, escapeLine, slashName } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import { createParsedFiles } from '../guidance-file.ts'
import type { GuidanceRoot } from '../guidance-roots.ts'
import { listFolder, realOrNull } from '../list-folder.ts'

/** A slash command of a Markdown file. */
export type CommandFile = {
  /** Its name: the path of the file below its folder, with colons: `git/fix.md` is `git:fix`. */
  readonly name: string
  readonly scope: GuidanceRoot['scope']
  /** The file, without links. */
  readonly path: string
  /** The whole text of the file. */
  readonly source: string
  readonly description: string
  readonly argumentHint: string | null
  readonly argumentNames: readonly string[]
  readonly template: string
}

const depthMax = 6
const filesMax = 1000
const entriesMax = 5000
const descriptionCharsMax = 200

/** Finds the commands below folders, in the order of the folders and by name. A file that cannot be read is left out. */
export function createCommandFinder() {
  const readFile = createParsedFiles(async ({ text }) => {
    const { readMarkdownFile } = await import('../front-matter/front-matter.ts') // YAML is loaded for the first command
    const { fields, body } = readMarkdownFile(text)
    const template = body.trim()
    return {
      ...{ source: text, template },
      description: oneLine(fields.text('description') ?? template.replace(/^#+ /, '').split('\n', 1)[0] ?? ''),
      argumentHint: fields.source('argument-hint'),
      argumentNames: fields.list('arguments', { spaces: true }) ?? [],
    }
  })

  return async (roots: readonly GuidanceRoot[]): Promise<readonly CommandFile[]> => {
    const found = await Promise.all(roots.map(findFiles))
    const seen = new Set<string>()
    const commands: CommandFile[] = []
    for (const { path, name, scope, folder } of found.flat()) {
      if (seen.has(path)) continue // two folders, or a link and its target
      seen.add(path)
      const file = await readFile(folder, relative(folder, path))
      if (file.ok && file.value.template !== '') commands.push({ name, scope, path, ...file.value })
    }
    return commands
  }
}

const oneLine = (text: string): string => escapeLine(clip(text.replace(/\s+/g, ' ').trim(), descriptionCharsMax))

type FoundFile = Pick<CommandFile, 'name' | 'scope' | 'path'> & {
  /** The folder that the file must not lead out of. */
  readonly folder: string
}

async function findFiles({ path: root, scope, within }: GuidanceRoot): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = []
  const visited = new Set<string>()
  let left = entriesMax
  const visit = async (folder: string, names: readonly string[]): Promise<void> => {
    if (visited.has(folder) || (within !== null && !isInside(within, folder))) return
    visited.add(folder)
    const entries = await listFolder(folder, left)
    left -= entries.length
    for (const entry of entries) {
      const inner = join(folder, entry.name)
      const real = entry.isSymbolicLink() ? await realOrNull(inner) : inner
      if (real === null || found.length >= filesMax) continue
      const name = [...names, entry.name.replace(/\.md$/, '')].join(':')
      if (entry.name.endsWith('.md') && !entry.isDirectory()) {
        const isAllowed = within === null || isInside(within, real)
        if (isAllowed && slashName.test(name)) found.push({ name, scope, path: real, folder: dirname(real) })
      } else if (names.length < depthMax && entry.name !== '.git' && entry.name !== 'node_modules')
        await visit(real, [...names, entry.name])
    }
  }
  const real = await realOrNull(root)
  if (real !== null) await visit(real, [])
  return found
}
