import type { ToolRun } from '@holdfast/core/ports'
import { escapeLine, type Output } from '@holdfast/protocol'
import type { Done } from '../define/define-tool.ts'
import type { ServerResult } from './connection/connection.ts'

type FilePart = NonNullable<Output['fileParts']>[number]
type Block = ServerResult['content'][number]

/** Turns what a server returned into text and files for the model. Images are stored; what cannot be shown is named. */
export async function readToolResult(
  { content, structuredContent, isError }: ServerResult,
  run: Pick<ToolRun, 'storeFile'>,
): Promise<Done> {
  const texts: string[] = []
  const fileParts: FilePart[] = []
  for (const block of content) {
    const shown = await readBlock(block, run)
    if (typeof shown === 'string') texts.push(shown)
    else fileParts.push(shown)
  }
  if (texts.length === 0 && fileParts.length === 0)
    texts.push(structuredContent === undefined ? 'done' : JSON.stringify(structuredContent))
  return {
    text: texts.join('\n'),
    isFailed: isError === true,
    ...(fileParts.length > 0 && { fileParts }),
  }
}

async function readBlock(block: Block, { storeFile }: Pick<ToolRun, 'storeFile'>): Promise<string | FilePart> {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image': {
      const bytes = Buffer.from(block.data, 'base64')
      const stored = await storeFile?.(bytes, 'image')
      return stored?.ok ? stored.value.file : `[an image of ${bytes.length} bytes, which cannot be shown]`
    }
    case 'audio':
      return `[a sound of ${escapeLine(block.mimeType)}, which cannot be shown]`
    case 'resource_link':
      return `[${escapeLine(block.title ?? block.name)}](${escapeLine(block.uri)})`
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[${escapeLine(block.resource.uri)}: a file that is not text]`
  }
}
