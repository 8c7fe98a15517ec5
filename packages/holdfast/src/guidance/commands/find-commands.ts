import { basename, dirname } from 'node:path'
import { clip, escapeLine, slashName } from '@holdfast/protocol'
import { findMarkdownFiles } from '../find-markdown-files.ts'
import { createParsedFiles } from '../guidance-file.ts'
import type { GuidanceRoot } from '../guidance-roots.ts'

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

const descriptionCharsMax = 200

/** Finds the commands below folders, in the order of `findMarkdownFiles`. A file that cannot be read is left out. */
export function createCommandFinder() {
  const readFile = createParsedFiles(async ({ text }) => {
    const { readMarkdownFile } = await import('../front-matter/front-matter.ts') // YAML is loaded for the first command
    const { fields, body } = readMarkdownFile(text)
    const template = body.trim()
    return {
      source: text,
      template,
      description: oneLine(fields.text('description') ?? template.replace(/^#+ /, '').split('\n', 1)[0] ?? ''),
      argumentHint: fields.source('argument-hint'),
      argumentNames: fields.list('arguments', { spaces: true }) ?? [],
    }
  })

  return async (roots: readonly GuidanceRoot[]): Promise<readonly CommandFile[]> => {
    const commands: CommandFile[] = []
    for (const { path, scope, names } of await findMarkdownFiles(roots, (one) => slashName.test(nameOf(one)))) {
      const file = await readFile(dirname(path), basename(path))
      if (file.ok && file.value.template !== '') commands.push({ name: nameOf(names), scope, path, ...file.value })
    }
    return commands
  }
}

const nameOf = (names: readonly string[]): string => names.join(':')

const oneLine = (text: string): string => escapeLine(clip(text.replace(/\s+/g, ' ').trim(), descriptionCharsMax))
