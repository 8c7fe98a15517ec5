import { type Dialect, efforts, hasMetaText, plainDialect as plain } from './dialect.ts'

const types = /^(image\/(png|jpeg|webp)|application\/pdf)$/

/** Attaches a signature to each part: thinking, text or call. */
export const googleDialect: Dialect = {
  ...plain,
  thinking: {
    ...plain.thinking,
    isThinker: (modelId) => /gemini-(2\.5|[3-9]|\d\d|flash|pro)/.test(modelId),
    request: (level) => ({
      reasoning: efforts[level],
      ...(level !== 'off' && { options: { google: { thinkingConfig: { includeThoughts: true } } } }),
    }),
  },
  answers: {
    ...plain.answers,
    isPerModel: true,
    acceptsBlankText: (part) => hasMetaText(part, 'google', 'thoughtSignature'),
  },
  files: { ...plain.files, types, typesIfUnknown: types },
  names: { ...plain.names, tools: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/ },
}
