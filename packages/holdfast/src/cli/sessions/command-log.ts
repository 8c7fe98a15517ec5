import { ok, type Result } from '@holdfast/protocol/result'
import { errorFields } from '../../observe/logging/error-fields.ts'
import { logSettingOf } from '../../observe/logging/log-level.ts'
import type { OpenLogger } from '../../observe/logging/open-logger.ts'
import type { CommandName } from '../args/command-specs.ts'
import type { CliContext } from '../context/cli-context.ts'

/** The log of a command, as `HOLDFAST_LOG` and `HOLDFAST_LOG_FILE` want it; null when it keeps none. */
export async function openCommandLog(name: CommandName, place: CliContext): Promise<Result<OpenLogger | null>> {
  const { environment, err, onCrash } = place
  const level = logSettingOf(environment, name === 'serve' ? 'warn' : 'off')
  if (!level.ok) return level
  if (level.value === 'off') return ok(null)
  const { openLogger } = await import('../../observe/logging/open-logger.ts') // only who logs waits for the library
  const file = environment['HOLDFAST_LOG_FILE'] || undefined
  const opened = await openLogger({ level: level.value, file, onLost: (message) => void err.write(`${message}\n`) })
  if (opened.ok) onCrash((cause) => opened.value.logger.error({ err: errorFields(cause) }, 'crash'))
  return opened
}
