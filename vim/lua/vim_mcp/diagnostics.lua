-- What vim.diagnostic knows (Neovim 0.6 and later), or before it the LSP client.
local M = {}

-- The diagnostics of all buffers, or of `only`, as vim.diagnostic has them.
local function all(only)
  if vim.diagnostic then return vim.diagnostic.get(only > 0 and only or nil) end
  local found = {}
  local lsp = vim.lsp and vim.lsp.diagnostic
  for buffer, list in pairs(lsp and lsp.get_all and lsp.get_all() or {}) do
    for _, one in ipairs((only == 0 or only == buffer) and list or {}) do
      -- Its columns are UTF-16 units: bytes for nearly all code.
      local first, last = one.range.start, one.range['end']
      found[#found + 1] = {
        bufnr = buffer, severity = one.severity, message = one.message, source = one.source,
        code = one.code, lnum = first.line, col = first.character,
        end_lnum = last.line, end_col = last.character,
      }
    end
  end
  return found
end

-- `place` is {line, byte, end line, end byte}, from 1, ends included, 0 where unknown.
function M.list(only)
  local told = {}
  for _, one in ipairs(all(only)) do
    local lsp = type(one.user_data) == 'table' and one.user_data.lsp
    local code = one.code or (type(lsp) == 'table' and lsp.code)
    local last = one.end_lnum or one.lnum
    told[#told + 1] = {
      bufnr = one.bufnr or 0,
      severity = one.severity or 1,
      message = tostring(one.message or ''),
      source = tostring(one.source or ''),
      code = code and tostring(code) or '',
      place = {
        one.lnum + 1, (one.col or 0) + 1,
        one.end_col and last + 1 or 0, one.end_col and math.max(one.end_col, 1) or 0,
      },
    }
  end
  return told
end

return M
