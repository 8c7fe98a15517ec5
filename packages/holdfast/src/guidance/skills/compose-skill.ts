import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { clip, escapeLine } from '@holdfast/protocol'
import { expandTemplate } from '../commands/expand-template.ts'
import { readGuidanceText } from '../guidance-file.ts'
import { listFolder } from '../list-folder.ts'
import { skillFileName } from './find-skills.ts'
import type { SkillFile } from './parse-skill.ts'

type Composed = {
  readonly name: string
  readonly folder: string
  readonly skill: Pick<SkillFile, 'body' | 'argumentNames'>
  /** What was given after its name. */
  readonly given: string
  readonly charsMax: number
}

const filesMax = 50
const filesDepthMax = 4
const entriesMax = 1000
const includesMax = 20
const includeBytesMax = 64 * 1024

/** What a refusal calls the folder of a skill. */
export const folderName = 'the folder of the skill'

/** Returns the text of a skill for the model: its body with what it includes, and the names of its other files. */
export async function composeSkill({ name, folder, skill, given, charsMax }: Composed) {
  const body = await withIncludes(
    folder,
    skill.body.replace(/\$\{CLAUDE_SKILL_DIR\}/g, () => folder),
  )
  const files = await listFiles(folder)
  const hash = createHash('sha256')
    .update(JSON.stringify([body, files]))
    .digest('hex')
  const filled = fill(body.trim(), skill.argumentNames, given)
  const isCut = filled.length > charsMax
  const note = isCut
    ? `\n[cut: the skill has ${filled.length} characters; the rest is in ${skillFileName} of its folder]`
    : ''
  const shown = files.slice(0, filesMax).map((file) => `- ${escapeLine(file)}`)
  const more = files.length > filesMax ? `\n- … and more` : ''
  const listed = shown.length > 0 ? `\nFiles of the skill, in ${escapeLine(folder)}:\n${shown.join('\n')}${more}` : ''
  const head = `<skill_content name="${attribute(name)}" dir="${attribute(folder)}">`
  return { hash, text: `${head}\n${inert(clip(filled, charsMax))}${note}\n</skill_content>${listed}` }
}

const attribute = (text: string): string => escapeLine(text).replace(/["<>]/g, '_')

/** A skill must not end the block it stands in. */
const inert = (text: string): string => text.replace(/<(?=\/skill_content)/gi, '‹')

/** Puts the arguments in. Shell commands stay text: a skill runs nothing by itself. */
function fill(body: string, names: readonly string[], given: string): string {
  if (given.trim() === '' && !body.includes('$ARGUMENTS')) return body
  return expandTemplate({ template: body, names }, given)
    .map((piece) => (piece.type === 'text' ? piece.text : piece.source))
    .join('')
}

/** Replaces each line `@include path` by the file of the skill's folder. Links may not lead out of it. */
async function withIncludes(folder: string, body: string): Promise<string> {
  let left = includesMax
  const lines: string[] = []
  for (const line of body.split('\n')) {
    const path = /^@include[ \t]+(\S.*)$/.exec(line.trimEnd())?.[1]
    if (path === undefined || left-- <= 0) {
      lines.push(line)
      continue
    }
    const included = await readGuidanceText(folder, path, { bytesMax: includeBytesMax, folderName })
    if (!included.ok) lines.push(`[not included: ${included.fault.message}]`)
    else
      lines.push(
        included.value.text.trimEnd(),
        ...(included.value.isCut ? [`[cut; the rest is in ${escapeLine(path)}]`] : []),
      )
  }
  return lines.join('\n')
}

/** Returns the other files of a skill, as paths in its folder. Links are left out. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = []
  let left = entriesMax
  const visit = async (path: string, depth: number): Promise<void> => {
    const entries = await listFolder(path, left)
    left -= entries.length
    for (const entry of entries) {
      const inner = join(path, entry.name)
      if (entry.isFile() && inner !== join(folder, skillFileName)) files.push(relative(folder, inner))
      if (entry.isDirectory() && depth < filesDepthMax && entry.name !== '.git') await visit(inner, depth + 1)
      if (files.length > filesMax) return
    }
  }
  await visit(folder, 1)
  return files
}
