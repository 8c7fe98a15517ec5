import { ok, type Result } from '@holdfast/protocol/result'
import { errorFields } from '../logging/error-fields.ts'
import { logSettingOf } from '../logging/log-level.ts'
import type { OpenLogger } from '../logging/open-logger.ts'
import type { CommandName } from './command-table.ts'
import type { Place } from './place.ts'

/** The log of a command, as `HOLDFAST_LOG` and `HOLDFAST_LOG_FILE` want it; null when it keeps none. */
export async function openCommandLog(name: CommandName, place: Place): Promise<Result<OpenLogger | null>> {
  const { environment, err, onCrash } = place
  const level = logSettingOf(environment, name === 'serve' ? 'warn' : 'off')
  if (!level.ok) return level
  if (level.value === 'off') return ok(null)
  const { openLogger } = await import('../logging/open-logger.ts') // only who logs waits for the library
  const file = environment['HOLDFAST_LOG_FILE'] || undefined
  const opened = await openLogger({ level: level.value, file, onLost: (message) => void err.write(`${message}\n`) })
  if (opened.ok) onCrash((cause) => opened.value.logger.error({ err: errorFields(cause) }, 'crash'))
  return opened
}
