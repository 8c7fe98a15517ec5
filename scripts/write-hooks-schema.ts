import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { payloadJsonSchemas } from '../packages/holdfast/src/hooks/payload.ts'

/** The whole of docs/hooks.schema.json: what hooks get on standard input, by event. */
export const renderHooksSchema = (): string => `${JSON.stringify(payloadJsonSchemas(), null, 2)}\n`

if (process.argv[1] === import.meta.filename) {
  await writeFile(resolve(import.meta.dirname, '../docs/hooks.schema.json'), renderHooksSchema())
}
