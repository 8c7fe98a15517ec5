import type { BoundedFile, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { clip, escapeLine, type FileChange, ok, type Result } from '@holdfast/protocol'
import { checkTexts, findBoundary } from '../edits/boundary.ts'
import { decodeText } from '../edits/encoding.ts'
import { unifiedDiff } from '../edits/unified-diff.ts'
import { hashBytes, keepBefore } from '../files/io/before-image.ts'
import { workspaceFiles } from '../files/workspace-files.ts'

const diffCharsMax = 4000

/**
 * Compares the files with edit boundaries before and after a command. A command can change any line, so one that changed
 * lines outside fails with the diff, and what was there is kept.
 */
export const withBoundedFiles = (tool: Tool): Tool => ({
  ...tool,
  async run(args, context, run) {
    const { boundaries = [], workdir } = context
    const before = new Map(
      await Promise.all(boundaries.map(async (one) => [one, await readNow(workdir, one)] as const)),
    )
    const result = await tool.run(args, context, run)
    const found: FoundChange[] = []
    for (const [bounded, content] of before) {
      const change = content && (await compare(bounded, content, context, run))
      if (change) found.push(change)
    }
    return found.length === 0 ? result : withChanges(result, found)
  },
})

/** What a command did to a file. `violation` is set if it changed lines that it may not. */
type FoundChange = { readonly file: FileChange; readonly violation: string | null }

type Content = { readonly bytes: Buffer; readonly mode: number }

async function readNow(workdir: string, { path }: BoundedFile): Promise<Content | null> {
  const found = await workspaceFiles.read(workdir, path)
  return found.ok ? { bytes: Buffer.from(found.value.bytes), mode: found.value.mode } : null
}

async function compare(
  bounded: BoundedFile,
  { bytes: before, mode }: Content,
  context: ToolContext,
  { blobs }: ToolRun,
): Promise<FoundChange | null> {
  const now = (await readNow(context.workdir, bounded))?.bytes ?? null
  if (now?.equals(before)) return null
  const { path } = bounded
  const image = await keepBefore(before, mode, blobs)
  if (now === null)
    return { file: { path, change: 'deleted', before: image }, violation: `${escapeLine(path)} is gone` }
  const file: FileChange = { path, change: 'modified', before: image, after: hashBytes(now) }
  const [one, other] = [await decodeText(before), await decodeText(now)]
  if (!one || !other) return { file, violation: `${escapeLine(path)} is no longer a text` }
  const range = await judge(bounded, one.text, other.text, context)
  if (!range.ok) {
    const diff = clip(unifiedDiff({ path, before: one.text, after: other.text }), diffCharsMax)
    return { file, violation: `${range.fault.message}\n${diff}` }
  }
  const kept = blobs && { ...range.value, content: (await blobs.put(now)).hash }
  return { file: { ...file, ...(kept && { boundary: kept }) }, violation: null }
}

/** Returns the lines of the boundary after the command. Refused if it changed others. */
async function judge(bounded: BoundedFile, before: string, after: string, { openBlob }: ToolContext) {
  const counted = openBlob && (await decodeText(Buffer.concat(await Array.fromAsync(await openBlob(bounded.content)))))
  const at = counted ? findBoundary(bounded.path, bounded, counted.text, before) : ok(bounded)
  return at.ok ? checkTexts(bounded.path, at.value, before, after) : (at satisfies Result<unknown>)
}

function withChanges(result: ToolResult, found: readonly FoundChange[]): ToolResult {
  const files = [...(result.files ?? []), ...found.map(({ file }) => file)]
  const violations = found.flatMap(({ violation }) => (violation === null ? [] : [violation]))
  if (violations.length === 0) return { ...result, files }
  const text = [result.output.text, ...violations.map((one) => `[outside_boundary: ${one}]`)].join('\n')
  return { ...result, type: 'failed', output: { ...result.output, text }, files }
}
