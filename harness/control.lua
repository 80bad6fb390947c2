-- The harness's own line to a Neovim under test: a pipe whose reader answers "mode" and "cancel" at
-- once, also while Neovim waits at a prompt, and leaves everything else to the main loop.
-- A request is "{id} {verb} {JSON}\n", an answer "[{id}, {…}]\n".

local uv = vim.uv or vim.loop
local pipe = uv.new_pipe(false)
local cancelled = {}
local unread = ''

local function answer(id, text)
  pipe:write('[' .. id .. ',' .. text .. ']\n')
end

local function evaluate(id, verb, json)
  local ok, reply = pcall(function()
    local text = vim.fn.json_decode(json)
    local value = verb == 'eval' and vim.fn.HarnessEval(text) or vim.fn.HarnessCommand(text)
    return vim.fn.json_encode(value)
  end)
  answer(id, ok and reply or vim.fn.json_encode({ error = tostring(reply) }))
end

local function on_line(line)
  local id, verb, json = line:match('^(%d+) (%a+) ?(.*)$')
  if verb == 'mode' then
    local now = vim.api.nvim_get_mode()
    -- By hand: Neovim 0.5 has no JSON encoder that may run here. CTRL-V is a mode's name.
    local mode = now.mode:gsub('%c', function(char)
      return ('\\u%04x'):format(char:byte())
    end)
    answer(id, ('{"mode":"%s","pending":%s,"typeahead":false}'):format(mode, tostring(now.blocking)))
  elseif verb == 'cancel' then
    cancelled[json] = true
  else
    vim.schedule(function()
      if cancelled[id] then
        cancelled[id] = nil
      else
        evaluate(id, verb, json)
      end
    end)
  end
end

pipe:connect(vim.env.HARNESS_CONTROL, function(err)
  if err then
    return
  end
  pipe:read_start(function(read_err, chunk)
    if read_err or not chunk then
      pipe:close()
      return
    end
    unread = unread .. chunk
    while true do
      local stop = unread:find('\n', 1, true)
      if not stop then
        break
      end
      local line = unread:sub(1, stop - 1)
      unread = unread:sub(stop + 1)
      on_line(line)
    end
  end)
end)
