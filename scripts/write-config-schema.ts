import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { configJsonSchema } from '../packages/holdfast/src/system/config/config.ts'

/** The whole of docs/config.schema.json. */
export const renderConfigSchema = (): string => `${JSON.stringify(configJsonSchema(), null, 2)}\n`

if (process.argv[1] === import.meta.filename) {
  await writeFile(resolve(import.meta.dirname, '../docs/config.schema.json'), renderConfigSchema())
}
