import type { SessionId } from '@holdfast/protocol'
import { askForText, type WrittenText } from './ask-for-text.ts'
import type { RuntimeParts } from './effect/parts.ts'

type Asked = Parameters<typeof askForText>

/** Asks a model for a text where whoever looks on sees it. */
export function askObserved(
  { observer }: Pick<RuntimeParts, 'observer'>,
  session: SessionId,
  ...[provider, request, options]: Asked
): Promise<WrittenText> {
  const ask = () => askForText(provider, request, options)
  return observer?.asking?.(session, request.model, ask) ?? ask()
}
